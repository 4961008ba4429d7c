package import Spellbook

extension InjectionKeys {
  /// A factory that creates a document from a name and a text.
  package static let openDocument = InjectionKey(
    .factory { (resolver, name: String, text: String) in
      Document(name: name, text: text, glyphs: try resolver.resolve(.glyphs))
    }
  ).liveInTests()
  /// The cache of character widths, which the open documents share and which is released with the last document.
  static let glyphs = InjectionKey(scope: .weak) { GlyphCache() }.liveInTests()
  /// The spelling dictionary, which is loaded once, in the background.
  package static let dictionary = InjectionKey(scope: .singleton, .async { try await SpellingDictionary.load("en") })
    .test { SpellingDictionary(words: ["a", "test"]) }
}

extension InitializerRegistry {
  /// Registers the editor's commands and export formats.
  package func registerEditor() {
    // The file is discarded with its registry: at the end of the program, or of a test.
    register(scope: .singleton) { RecoveryFile() }.onRemoval { $0.discard() }
    // With the scope `.graph`, the steps of one command get the same edit group.
    register(EditGroup.self, scope: .graph) { EditGroup() }
    register(.autowire(Trim.init(group:)))
    register(.autowire(Capitalize.init(group:)))
    register((any Command).self, named: "tidy") { TidyUp(trim: try $0.resolve(), capitalize: try $0.resolve()) }
    register((any Command).self, named: "trim") { try $0.resolve(Trim.self) }
    register((any Exporter).self, named: "html") { HTMLExporter() }
    register((any Exporter).self, named: "markdown") { MarkdownExporter() }
  }
}

/// A text editor with plugins.
package final class Editor {
  @Injected(.openDocument) private var openDocument
  @Injected private var html: any Exporter
  @Injected("markdown") private var preview: any Exporter
  @Injected private var recovery: RecoveryFile

  /// The services for plugins, each registered under the name of the plugin property that receives it.
  package let services = ServiceBox(registry: InitializerRegistry(parent: .current))
  private let registry = InitializerRegistry.current
  private var plugins: [any Plugin] = []

  package init(statusLine: StatusLine) {
    services.register(statusLine, named: "statusLine")
    services.register(Clipboard(), named: "clipboard")
  }

  package func open(_ name: String, text: String) throws -> Document { try openDocument(name, text) }

  /// The titles of all registered commands, in alphabetical order.
  package var menu: [String] { get throws { try registry.resolveAll((any Command).self).map(\.title).sorted() } }

  /// Performs the command that is registered under this name, as one group of edits for `Document.undo()`.
  package func perform(_ command: String, on document: Document) throws {
    try registry.resolve((any Command).self, named: command).perform(on: document)
    try recovery.save(document)
  }

  package func page(of document: Document) -> String { html.export(document) }
  package func preview(of document: Document) -> String { preview.export(document) }

  /// Adds a plugin, or throws an error if the plugin needs a service that the editor doesn't have.
  package func add(_ plugin: some Plugin) throws {
    try services.registry.inject(into: plugin)
    plugins.append(plugin)
  }

  /// Lets each plugin look at a document.
  package func inspect(_ document: Document) { for plugin in plugins { plugin.inspect(document) } }
}
