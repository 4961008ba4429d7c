import SpellTesting
import Spellbook
import Testing

@testable import Editor
@testable import EditorCore

@Suite("The editor", .registry { $0.registerEditor() }) struct EditorTests {
  let statusLine = StatusLine()

  @Test("the edits of one command are undone together, apart from those of other commands")
  func undo() throws {
    let editor = Editor(statusLine: statusLine)
    let document = try editor.open("a", text: "  one\ntwo")
    try editor.perform("trim", on: document)
    #expect(document.text == "one\ntwo")
    try editor.perform("tidy", on: document)
    #expect(document.text == "One\nTwo")
    document.undo()
    #expect(document.text == "one\ntwo")
    document.undo()
    #expect(document.text == "  one\ntwo")
  }

  @Test("the recovery file is discarded with its registry, and the words follow the edits")
  func recovery() throws {
    let registry = InitializerRegistry()
    registry.registerEditor()
    let document = try registry.run {
      let editor = Editor(statusLine: statusLine)
      let document = try editor.open("a", text: "one two")
      #expect(document.words.count == 2)
      try editor.perform("tidy", on: document)
      return document
    }
    #expect(document.words == ["One", "two"])
    let file = try registry.resolve(RecoveryFile.self)
    #expect(file.exists)
    registry.removeAll()
    #expect(!file.exists)
  }

  @Test("a user's own words are added to the dictionary")
  func ownWords() throws {
    InitializerRegistry.current.decorate(.dictionary) { $0.adding(["good"]) }
    let editor = Editor(statusLine: statusLine)
    try editor.add(SpellChecker())
    editor.inspect(try editor.open("a", text: "a good test"))
    #expect(statusLine.shown == ["a: 0 unknown words"])
  }

  @Test("exports in the format that a property names")
  func formats() throws {
    let editor = Editor(statusLine: statusLine)
    let document = try editor.open("a", text: "one\ntwo")
    #expect(editor.page(of: document) == "<p>one<br>two</p>")
    #expect(editor.preview(of: document) == "# a\n\none\ntwo")
  }

  @Test("a command with an unknown name is an error that has the name")
  func unknownCommand() throws {
    let editor = Editor(statusLine: statusLine)
    let document = try editor.open("a", text: "")
    let error = #expect(throws: InjectionError.self) { try editor.perform("sort", on: document) }
    #expect(error?.description.contains("sort") == true)
  }

  @Test("plugins get the services by name, and the test's dictionary")
  func plugins() throws {
    let editor = Editor(statusLine: statusLine)
    try editor.add(WordCount())
    try editor.add(SpellChecker())
    editor.inspect(try editor.open("a", text: "a good test"))
    #expect(statusLine.shown == ["a: 3 words", "a: 1 unknown words"])
  }

  @Test("a plugin that needs a missing service is refused")
  func refusedPlugin() throws {
    let editor = Editor(statusLine: statusLine)
    let error = #expect(throws: InjectionError.self) { try editor.add(CloudSync()) }
    #expect(error?.description.contains("Account for CloudSync.account") == true)
  }

  @Test("open documents share one cache of widths, which is released with the last document")
  func glyphs() throws {
    let editor = Editor(statusLine: statusLine)
    func shared() throws -> GlyphCache { try InitializerRegistry.current.resolve(.glyphs) }
    weak var cache: GlyphCache?
    do {
      let document = try editor.open("a", text: "a…")
      #expect(document.width == 3)
      cache = try shared()
      #expect(cache === document.glyphs)
      withExtendedLifetime(document) {}
    }
    #expect(cache == nil)
  }

  @Test("the registrations are complete")
  func check() {
    let properties = WrappedProperty.all(inModules: "EditorCore")
    let editor = Editor(statusLine: statusLine)
    #expect(editor.services.registry.validate(properties: properties).map(\.description) == [])
  }
}
