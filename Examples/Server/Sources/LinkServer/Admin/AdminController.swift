import HTTPTypes
public import Hummingbird
import InjectedSpell
import Logging
import Metrics
import PreferenceStorage
import SpellRegistry

/// A controller with the routes of the admin page.
public final class AdminController: Sendable {
  private let settings = Injected<Settings>()
  private let store = Injected<any PreferenceStore>()
  private let counters = Injected<Counters>()
  private let current = Injected<CurrentRequest>(.everyRead)

  /// Creates a controller that uses the current registry.
  public init() {}

  /// Adds the controller's routes to a group.
  public func addRoutes(to group: RouterGroup<some RequestContext>) {
    group.get("/") { _, _ in try await AdminPage().response() }
    group.post("/") { request, context in try await self.save(request, context) }
  }

  /// Saves all changes that the user made in the form, or none if a value is refused.
  private func save(_ request: Request, _ context: some RequestContext) async throws -> Response {
    let form = SettingsForm(
      values: try await URLEncodedFormDecoder().decode([String: String].self, from: request, context: context))
    let fields = settings.value.fields
    if let key = form.keyToReset { return try reset(key, of: fields) }
    var refused: [String: String] = [:]
    do {
      try store.value.transaction { changes in
        for field in fields {
          guard let text = form.change(of: field) else { continue }
          do { try field.set(text, in: &changes) } catch let error as RefusedSetting {
            refused[field.key] = error.description
          }
        }
        if !refused.isEmpty { throw CancellationError() }
      }
    } catch is CancellationError {
      counters.value.refused.increment(by: refused.count)
      current.value.logger.notice("Refused settings of the form", metadata: ["keys": "\(refused.keys.sorted())"])
      return try await AdminPage().response(form, refused: refused)
    }
    return .redirect(to: "/admin")
  }

  private func reset(_ key: String, of fields: [SettingField]) throws -> Response {
    guard fields.contains(where: { $0.key == key }) else { throw HTTPError(.badRequest) }
    try store.value.removeValue(forKey: key)
    current.value.logger.notice("Reset a setting", metadata: ["key": "\(key)"])
    return .redirect(to: "/admin")
  }
}

/// The settings form of the admin page, with the values that the browser has sent.
///
/// For each setting, the form has the value from when the page was loaded, and the value that the user entered. Only
/// differing values are saved, because a setting that the user left unchanged may have been changed elsewhere. If a
/// request has no loaded values, such as a script's, the entered values are compared with the defaults.
struct SettingsForm {
  let values: [String: String]

  /// Returns the name of the hidden field with a setting's value from when the page was loaded.
  static func nameOfLoaded(_ field: SettingField) -> String { "loaded.\(field.key)" }

  /// The key of the setting whose Reset button was pressed, or nil if no Reset button was pressed.
  var keyToReset: String? { values["reset"] }

  /// Returns the value that the setting had when the page was loaded, or the default if the form doesn't have it.
  func loaded(_ field: SettingField) -> String { values[Self.nameOfLoaded(field)] ?? field.standard }

  /// Returns the value that the user entered, or nil if the form has no value for the setting.
  func entered(_ field: SettingField) -> String? {
    // A browser doesn't send a checkbox that is off.
    values[field.key] ?? (field.isSwitch && values[Self.nameOfLoaded(field)] != nil ? "false" : nil)
  }

  /// Returns the value that the user entered, or nil if the user left the setting unchanged.
  func change(of field: SettingField) -> String? { entered(field).flatMap { $0 == loaded(field) ? nil : $0 } }
}
