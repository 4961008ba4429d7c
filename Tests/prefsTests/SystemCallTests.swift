#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// Tests from outside the program: `strace` makes system calls fail, or kills the process at them.
  @Suite(
    "System calls that fail, or never return",
    .enabled(if: Strace.works, "it takes strace, the right to trace, and a build without a sanitizer"))
  final class SystemCallTests: Sendable {
    let folder: TemporaryFolder
    var file: String { folder.path(of: "settings.preferences") }
    static let calls = [
      "pread64", "write", "fdatasync", "fsync", "rename", "ftruncate", "flock", "getdents64", "unlink",
    ]
    /// The calls that are tested only in a release build, because the program's loader makes dozens of them.
    static let loaderCalls = Array(
      ["openat", "statx", "newfstatat", "close"].prefix(repetitions(debug: 0, release: 4)))
    /// A file with lines to compact, a damaged line, and an incomplete last line.
    static let content =
      "#preferences 1\n{\"a\":1}\n{\"a\":2}\nrubbish\n{\"b\":[1,2]}\n{\"a\":3}\n{\"c"
    static let state = "{\n  \"a\": 3,\n  \"b\": [1,2]\n}\n"

    init() throws {
      folder = try TemporaryFolder()
    }

    /// Runs the command with an injection at each call in turn, until it makes no further call.
    ///
    /// A file with a second name can't be rewritten.
    func forEachCall(
      _ call: String, _ injection: String, _ command: [String], hasSecondName: Bool = false,
      check: (Tool.Result, Comment) throws -> Void
    ) throws {
      var number = 1
      var isReached = true
      while isReached {
        for name in try folder.names {
          try FileManager.default.removeItem(at: folder.file(name))
        }
        try Data(SystemCallTests.content.utf8).write(to: URL(filePath: file))
        if hasSecondName { try FileManager.default.linkItem(atPath: file, toPath: folder.path(of: "second")) }
        let log = folder.path(of: "strace")
        let result = try Tool.run(
          Strace.path,
          [
            "-f", "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):\(injection):when=\(number)",
            Tool.path, file,
          ]
            + command)
        let lines = try String(contentsOfFile: log, encoding: .utf8)
        isReached = lines.contains("INJECTED") || lines.contains("SIGKILL")
        try check(result, "\(call) \(number), \(injection)")
        number += 1
      }
    }

    @Test("an edit whose file can't be removed afterward is made, and says so")
    func editedFileStays() throws {
      #expect(try Tool.run([file, "set", "a", "1"]).status == 0)
      let result = try Tool.run(
        "/usr/bin/env",
        [
          "TMPDIR=\(folder.url.path)", "EDITOR=sed -i s/1/10/", Strace.path, "-f", "-o", "/dev/null", "-e",
          "trace=unlink", "-e", "inject=unlink:error=EACCES", Tool.path, file, "edit",
        ])
      #expect(result.status == 74)
      #expect(result.errors.contains("could not be removed") && !result.errors.contains("nothing was changed"))
      #expect(try Tool.run([file, "get", "a"]).output == "10\n")
    }

    @Test("a rewriting of the file killed at any of its system calls loses nothing", arguments: calls + loaderCalls)
    func kill(call: String) throws {
      try forEachCall(call, "signal=SIGKILL", ["set", "d", "3"]) { (result, comment) throws in
        #expect(result.status == nil || result.status == 0, comment)
        let state = try Tool.run([file, "export"]).output.replacing(",\n  \"d\": 3", with: "")
        #expect(state == SystemCallTests.state, comment)
        #expect(try Tool.run([file, "set", "d", "4"]).status == 0, comment)
        #expect(try Tool.run([file, "get", "d"]).output == "4\n", comment)
        #expect(try Tool.run([file, "check"]).status == 0, comment)
      }
    }

    /// The calls that fail in turn, each with an error; a file with a second name can't be rewritten.
    static let failures: [(call: String, error: String, hasSecondName: Bool)] =
      ["write", "fdatasync", "fsync", "rename", "ftruncate", "flock", "statx"].flatMap { call in
        ["EIO", "ENOSPC", "EDQUOT", "EACCES"].prefix(repetitions(debug: 2, release: 4)).map { (call, $0, false) }
      } + ["write", "fdatasync", "ftruncate"].flatMap { call in ["EIO", "ENOSPC"].map { (call, $0, true) } }

    @Test("a write is there when the tool says so, and isn't when it doesn't", arguments: failures)
    func errors(call: String, error: String, hasSecondName: Bool) throws {
      try forEachCall(call, "error=\(error)", ["set", "a", "9"], hasSecondName: hasSecondName) {
        (result, comment) throws in
        let written = SystemCallTests.state.replacing("\"a\": 3", with: "\"a\": 9")
        let state = try Tool.run([file, "export"]).output
        switch result.status {
        case 0: #expect(state == written, comment)
        case 65, 74: #expect(state == SystemCallTests.state && result.errors.contains(file), comment)
        default: Issue.record("ended with \(result)", severity: .error)
        }
      }
    }

    @Test(
      "a call that a signal interrupts is made again",
      arguments: ["write", "flock", "fdatasync", "statx"])
    func interruption(call: String) throws {
      try forEachCall(call, "error=EINTR", ["set", "a", "9"]) { (result, comment) throws in
        #expect(result.status == 0, comment)
        #expect(try Tool.run([file, "get", "a"]).output == "9\n", comment)
      }
    }
  }
#endif
