import Foundation
import Synchronization
import TestSupport
import Testing

private final class Flag: Sendable {
  let isRaised = Atomic(false)
}

@Suite("prefs") final class PrefsTests: Sendable {
  let folder: TemporaryFolder
  var file: String { folder.path(of: "settings.preferences") }

  init() throws {
    folder = try TemporaryFolder()
  }

  func run(_ arguments: String...) throws -> (status: Int32?, output: String, errors: String) {
    let result = try Tool.run(arguments)
    return (result.status, result.output, result.errors)
  }

  @Test("sets, gets, lists and deletes")
  func basics() throws {
    #expect(try run(file, "set", "volume", "7") == (0, "", ""))
    #expect(try run(file, "set", "theme", " { \"name\" : \"dark\" } ") == (0, "", ""))
    #expect(try run(file, "get", "theme") == (0, "{\"name\":\"dark\"}\n", ""))
    #expect(try run(file, "list").output == "volume\t7\ntheme\t{\"name\":\"dark\"}\n")
    #expect(try run(file, "get", "theme", "volume").output == "{\"name\":\"dark\"}\n7\n")
    #expect(try run(file, "get", "volume", "none").status == 1)
    #expect(try run(file, "delete", "volume").status == 0)
    #expect(try run(file, "set", "theme", "null").status == 0)
    #expect(try run(file, "list") == (0, "", ""))
  }

  @Test("says 1 for what isn't there, and makes no file by reading")
  func notFound() throws {
    for command in ["list", "check", "export", "edit"] {
      #expect(try run(file, command).status == 1)
    }
    #expect(try run(file, "get", "a").errors.contains("no such file"))
    #expect(try folder.names == [])
    _ = try run(file, "set", "a", "1")
    #expect(try run(file, "get", "b") == (1, "", "prefs: there is no key \"b\"\n"))
    #expect(try run(file, "delete", "b").status == 1)
    let absent = folder.path(of: "absent")
    #expect(try run(file, "import", absent) == (1, "", "prefs: \(absent): no such file\n"))
  }

  @Test("says 64 for invalid arguments")
  func usage() throws {
    let invalid = [
      [], ["--nonsense"], [file], [file, "turn"], [file, "get"], [file, "get", "a", "--json"], [file, "set", "a"],
    ]
    for arguments in invalid {
      let result = try Tool.run(arguments)
      #expect(result.status == 64)
      #expect(result.errors.contains("prefs --help"))
    }
    #expect(try run(file, "set", "a", "dark").status == 64)
    #expect(try run(file, "set", "", "1").status == 64)
    #expect(try run(file).errors.contains("missing command"))
    #expect(try run(file, "delete").errors.contains("usage: prefs FILE delete KEY"))
    #expect(try run("--help").output.contains("EXIT STATUS"))
    #expect(try run("--help").status == 0)
  }

  @Test("explains damage by line, says 65, and changes nothing")
  func damage() throws {
    let text = "#preferences 1\nc9a86aae {\"volume\":7}\nc9a86aae {\"volume\":8}\nrubbish\n{\"a\":1}\n{\"b"
    try Data(text.utf8).write(to: URL(filePath: file))
    let (status, output, _) = try run(file, "check")
    #expect(status == 65)
    for part in [
      "line 4 could not be read", "line 3 was edited", "3 bytes at the end are of a write that broke off",
    ] {
      #expect(output.contains(part))
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    #expect(try run(file, "get", "volume").output == "8\n")
    #expect(try run(file, "list").errors.contains("line 4 could not be read"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    #expect(try folder.names.count == 1)
    #expect(try run(file, "set", "a", "2").status == 0)
    #expect(try run(file, "check").output == "sound: 2 keys\n")
    try Data("hello\n".utf8).write(to: URL(filePath: file))
    #expect(try run(file, "check").status == 65)
    #expect(try run(file, "list").status == 65)
  }

  @Test("exports what it can import")
  func export() throws {
    let target = folder.path(of: "out.json")
    let other = folder.path(of: "other.preferences")
    _ = try run(file, "set", "a", "[1,{\"b\":null}]")
    #expect(try run(file, "export").output == "{\n  \"a\": [1,{\"b\":null}]\n}\n")
    #expect(try run(file, "export", target).status == 0)
    #expect(try run(other, "import", target) == (0, "", ""))
    #expect(try run(other, "get", "a").output == "[1,{\"b\":null}]\n")
    #expect(try run(other, "import", file).status == 74)
  }

  @Test("makes no file and no folder for a command that is refused")
  func refused() throws {
    let deep = folder.url.path + "/new/deep/file"
    #expect(try run(deep, "set", "a", "{").status == 64)
    #expect(try run(deep, "import", folder.url.path + "/absent").status == 1)
    #expect(try run(deep, "delete", "a").status == 1)
    #expect(try folder.names == [])
  }

  @Test("writes each change as it is made", .timeLimit(.hang))
  func watch() async throws {
    _ = try run(file, "set", "volume", "0")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: Tool.path)
    process.arguments = [file, "watch"]
    process.standardOutput = output
    try process.run()
    let heard = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      // The tool doesn't say when it has begun to watch, so the changes go on until it prints one.
      group.addTask { [self] in
        var number = 0
        while !heard.isRaised.load(ordering: .relaxed) {
          number += 1
          _ = try run(file, "set", "volume", "\(number)")
          await Task.yield()
        }
      }
      // This reads on a separate thread, because the changes need one of the few threads that tasks share.
      let line = await onThread { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }
      heard.isRaised.store(true, ordering: .relaxed)
      #expect(line.wholeMatch(of: /(volume\t\d+\n)+/) != nil)
      try await group.waitForAll()
    }
    // The tool is watching now, and also prints values that are replaced at once.
    let lines = (0..<100).map { "{\"word\":\"\($0)\"}\n" }.joined()
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(lines.utf8))
    try handle.close()
    let words = await onThread {
      var lines = ""
      while !lines.hasSuffix("word\t\"99\"\n") {
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { break }
        lines += String(decoding: more, as: UTF8.self)
      }
      return lines
    }
    #expect(words.contains((0..<100).map { "word\t\"\($0)\"\n" }.joined()))
    process.terminate()
    process.waitUntilExit()
  }
}
