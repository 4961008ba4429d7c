import HTTPTypes
import Hummingbird
import InjectedSpell
import LaunchInitializers
import LinkCore
import NIOCore
import PreferenceStorage
import SpellDiagnostics
import SpellRegistry

/// The admin page for one request, with the settings form, the launch timeline, and the dependency graph.
///
/// The page is created while the request's registry is current, so its injected values belong to the request.
final class AdminPage {
  @Injected private var settings: Settings
  @Injected private var store: any PreferenceStore
  @Injected private var links: LinkStore
  @Injected private var launch: LaunchSequence?
  @Injected private var request: CurrentRequest

  /// Returns a response with the page as HTML.
  ///
  /// - Parameters:
  ///   - form: The submitted form, whose values are shown again if one of them was refused.
  ///   - refused: The reason for each refused value, by key.
  func response(_ form: SettingsForm? = nil, refused: [String: String] = [:]) async throws -> Response {
    let fields = settings.fields.map { row($0, form, refused: refused[$0.key]) }
    let page: HTML = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Links: admin</title>
      <style>\(markup: Self.style)</style>
      <main>
      <h1>Links</h1>
      <p>Links: \(links.count). Visits to be saved: \(links.unsavedVisits). Request: <code>\(request.id)</code>.</p>
      <h2>Settings</h2>
      <form id="\(Self.resetForm)" method="post" action="/admin"></form>
      <form method="post" action="/admin">
      \(fields)
      <p class="buttons"><button>Save</button></p>
      </form>
      <h2>Launch</h2>
      <div class="picture">\(markup: launch?.report?.svg() ?? "")</div>
      <h2>Dependencies</h2>
      <div class="picture">\(markup: graph)</div>
      </main>
      </html>

      """
    return Response(
      status: refused.isEmpty ? .ok : .unprocessableContent,
      headers: [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .contentSecurityPolicy:
          "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'self'",
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(string: page.text)))
  }

  /// The dependency graph as SVG, with the registrations of the server and the request, and the module's properties.
  private var graph: String {
    InitializerRegistry.current.graph(properties: WrappedProperty.all(inModules: "LinkServer")).svg()
  }

  /// The identifier of the separate form for the Reset buttons.
  ///
  /// If the buttons were in the settings form, the Enter key in a text field would press the first Reset button.
  private static let resetForm = "reset"

  private func row(_ field: SettingField, _ form: SettingsForm?, refused: String?) -> HTML {
    let entered = form?.entered(field)
    let text = entered ?? field.text
    let loaded = entered == nil ? field.text : form?.loaded(field) ?? field.text
    let input: HTML =
      field.isSwitch
      ? """
      <input type="checkbox" id="\(field.key)" name="\(field.key)" value="true"\(text == "true" ? " checked" as HTML : nil)>
      """
      : """
      <input type="text" id="\(field.key)" name="\(field.key)" value="\(text)" autocomplete="off">
      """
    let stored: HTML? = field.problem.map { problem in
      """
      <p class="problem">The file's value <code>\(json(field.key))</code> is refused and kept; \(field.text) applies. \
      <small>\(problem)</small></p>
      """
    }
    return """
      <div class="field\(refused == nil && field.problem == nil ? nil : " refused" as HTML)">
      <label for="\(field.key)">\(field.key)</label>
      \(input)
      <input type="hidden" name="\(SettingsForm.nameOfLoaded(field))" value="\(loaded)">
      <button form="\(Self.resetForm)" name="reset" value="\(field.key)"\(field.isSet ? nil : " disabled" as HTML)>Reset</button>
      <p class="rule">\(field.rule)</p>
      \(refused.map { "<p class=\"problem\">\($0)</p>" as HTML })\(stored)
      </div>
      """
  }

  /// Returns the stored value as JSON, shortened to 60 characters, or an empty text if it can't be read.
  private func json(_ key: String) -> String {
    do throws(PreferenceError) {
      let json = try store.json(forKey: key) ?? ""
      return json.count > 60 ? json.prefix(60) + "…" : json
    } catch {
      return ""
    }
  }

  private static let style = """
    :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
    body { margin: 0 } main { max-width: 68rem; margin: 0 auto; padding: 1rem }
    h1, h2 { line-height: 1.2 }
    .field { display: grid; grid-template-columns: 9rem minmax(0, 1fr) auto; gap: .25rem .75rem; align-items: center;
      padding: .5rem .75rem; border-left: .25rem solid transparent }
    .field.refused { border-color: #c0392b }
    .field p { grid-column: 2 / -1; margin: 0 } .rule { opacity: .7; font-size: .875rem }
    .problem { color: #c0392b; overflow-wrap: anywhere }
    input[type=text] { width: 100%; box-sizing: border-box } input[type=checkbox] { justify-self: start }
    input, button { font: inherit; padding: .25rem .5rem }
    .buttons { padding-left: .75rem } .picture { overflow-x: auto } .picture svg { display: block }
    @media (max-width: 40rem) { .field { grid-template-columns: minmax(0, 1fr) auto }
      .field label, .field p { grid-column: 1 / -1 } }
    @media (prefers-color-scheme: dark) { .problem { color: #f0857a } }
    """
}

/// HTML text, in which interpolated strings are escaped.
struct HTML: ExpressibleByStringInterpolation {
  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ value: some CustomStringConvertible) { text += HTML.escaped(value.description) }
    mutating func appendInterpolation(_ part: HTML?) { text += part?.text ?? "" }
    mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text + "\n" } }
    /// Appends text that already is markup, without escaping it.
    mutating func appendInterpolation(markup: String) { text += markup }
  }

  let text: String

  init(stringLiteral value: String) { text = value }
  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
