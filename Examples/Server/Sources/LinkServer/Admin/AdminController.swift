import HTTPTypes
public import Hummingbird
import InjectedSpell
import Logging
import Metrics
import PreferenceStorage
import SpellRegistry

/// The routes of the admin page.
public final class AdminController: Sendable {
  private let settings = Injected<Settings>()
  private let store = Injected<any PreferenceStore>()
  private let counters = Injected<Counters>()
  private let current = Injected<CurrentRequest>(.everyRead)

  /// Creates the controller of the current registry.
  public init() {}

  /// Adds the routes to a group.
  public func addRoutes(to group: RouterGroup<some RequestContext>) {
    group.get("/") { _, _ in try await AdminPage().response() }
    group.post("/") { request, context in try await self.save(request, context) }
  }

  /// Saves what the form changes: all of it, or none if a value is refused.
  private func save(_ request: Request, _ context: some RequestContext) async throws -> Response {
    let form = try await URLEncodedFormDecoder().decode([String: String].self, from: request, context: context)
    let fields = settings.value.fields
    if let key = form["reset"] {
      guard fields.contains(where: { $0.key == key }) else { throw HTTPError(.badRequest) }
      try store.value.removeValue(forKey: key)
      current.value.logger.notice("Reset a setting", metadata: ["key": "\(key)"])
      return .redirect(to: "/admin")
    }
    var refused: [String: String] = [:]
    do {
      try store.value.transaction { changes in
        // A browser leaves out a switch that is off.
        for field in fields {
          guard let text = form[field.key] ?? (field.isSwitch ? "false" : nil), text != field.text else { continue }
          do { try field.set(text, in: &changes) } catch let error as RefusedSetting {
            refused[field.key] = error.description
          }
        }
        if !refused.isEmpty { throw CancellationError() }
      }
    } catch is CancellationError {
      counters.value.refused.increment(by: refused.count)
      current.value.logger.notice("Refused settings of the form", metadata: ["keys": "\(refused.keys.sorted())"])
      return try await AdminPage().response(entered: form, refused: refused)
    }
    return .redirect(to: "/admin")
  }
}
