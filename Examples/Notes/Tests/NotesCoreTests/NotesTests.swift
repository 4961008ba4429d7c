import ArgumentParser
import Foundation
import PreferenceStorage
import SpellRegistry
import SpellTesting
import StandardKeys
import Synchronization
import Testing

@testable import NotesCore

/// A console and notebook that keeps the output and the notes in memory.
private final class Desk: Console, Notebook {
  private let lines = Mutex<[String]>([])
  private let kept = Mutex<[Note]>([])
  var printed: [String] { lines.withLock(\.self) }

  func print(_ line: String) { lines.withLock { $0.append(line) } }
  func notes() throws -> [Note] { kept.withLock(\.self) }
  func replace(with notes: [Note]) throws { kept.withLock { $0 = notes } }
}

private func register(in registry: InitializerRegistry) {
  registerServices(in: registry)
  registry.register(Desk.self, scope: .singleton) { Desk() }
  registry.register((any Console).self) { resolver in try resolver.resolve(Desk.self) }
  registry.register((any Notebook).self) { resolver in try resolver.resolve(Desk.self) }
}

@Suite("Notes", .registry { register(in: $0) }) struct NotesTests {
  private let registry = InitializerRegistry.current
  private let desk: Desk

  init() throws { desk = try InitializerRegistry.current.resolve() }

  private func run(_ arguments: String...) throws {
    var command = try Notes.parseAsRoot(arguments)
    try command.run()
  }

  @Test("Notes are added, listed and done")
  func life() throws {
    try run("add", "Buy", "tea")
    try run("add", "Call Ada", "--urgent")
    try run("list")
    try run("done", "2")
    try run()
    #expect(
      desk.printed == [
        "Note 1 added.", "Note 2 added.", "! 2  Call Ada", "  1  Buy tea", "Done: Call Ada", "  1  Buy tea",
      ])
    #expect(try desk.notes().map(\.date) == [Date(timeIntervalSinceReferenceDate: 0)])
  }

  @Test("A number that no note has is an error")
  func missing() throws {
    #expect(throws: ValidationError.self) { try run("done", "7") }
    #expect(desk.printed.isEmpty)
  }

  @Test("A setting applies to later commands, and an option wins over it")
  func settings() throws {
    try run("settings", "--order", "text", "--urgent")
    try run("add", "b")
    try run("add", "a", "--no-urgent")
    try run("list")
    try run("list", "--order", "date")
    #expect(
      desk.printed == [
        "list.order = text", "add.urgent = true", "Note 1 added.", "Note 2 added.", "  2  a", "! 1  b", "! 1  b",
        "  2  a",
      ])
    let store = try registry.resolve((any PreferenceStore).self)
    #expect(try store.value(for: .order) == .text)
  }

  @Test("A value of the file that isn't the setting's is reported, and stays")
  func refused() throws {
    let store = try registry.resolve((any PreferenceStore).self)
    try store.set("backwards", forKey: "list.order")
    let error = #expect(throws: PreferenceError.self) { try run("settings") }
    #expect(error?.code == .typeMismatch)
    try run("list")
    #expect(desk.printed == ["There are no notes."])
    #expect(try store.json(forKey: "list.order") == #""backwards""#)
  }

  @Test("Every property of the commands is served")
  func wholeProgram() {
    let properties = WrappedProperty.all(inModules: "NotesCore")
    #expect(properties.contains { $0.description == "Notes.Add.notebook" || $0.description == "Add.notebook" })
    #expect(registry.validate(properties: properties).map(\.description) == [])
    #expect(registry.validate().map(\.description) == [])
  }

  @Test("The program keeps notes and settings in files")
  func program() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "NotesTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    func execute(_ arguments: String...) throws -> String {
      let process = Process()
      let output = Pipe()
      process.executableURL = Self.programs.appending(path: "notes")
      process.arguments = arguments
      process.environment = ["XDG_CONFIG_HOME": folder.path, "XDG_DATA_HOME": folder.path, "HOME": folder.path]
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let printed = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      return String(decoding: printed, as: UTF8.self)
    }
    #expect(try execute("add", "Buy tea") == "Note 1 added.\n")
    #expect(try execute("settings", "--order", "text") == "list.order = text\nadd.urgent = false\n")
    #expect(try execute("settings") == "list.order = text\nadd.urgent = false\n")
    #expect(try execute() == "  1  Buy tea\n")
  }

  /// The folder with the built programs and tests.
  private static var programs: URL {
    #if os(macOS)
      Bundle(for: Desk.self).bundleURL.deletingLastPathComponent()
    #else
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    #endif
  }
}
