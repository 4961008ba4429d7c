import PreferenceStorage
internal import Support

/// The command-line tool `prefs`, which reads and changes a preferences file.
@main
struct Prefs {
  static func main() async {
    // If the signal is ignored, a write beyond the file-size limit fails with an error instead of ending the tool.
    signal(SIGXFSZ, SIG_IGN)
    exit(await run(arguments).rawValue)
  }

  /// The arguments after the tool's name, as bytes because a file's name need not be valid UTF-8.
  private static var arguments: [FilePath] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { FilePath(bytes: UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }

  private static func run(_ arguments: [FilePath]) async -> ExitCode {
    do {
      switch try Invocation(arguments) {
      case .help:
        try Console.write(Help.text)
        return .success
      case .command(let command, let path):
        return try await command.run(on: path)
      }
    } catch let error as UsageError {
      Console.complain("\(error.message)\nTry 'prefs --help'.")
      return .usage
    } catch let error as OutputError {
      Console.complain("the output could not be written [\(error.cause)]")
      return .inputOutput
    } catch let error as PreferenceError {
      Console.complain(error.description)
      return ExitCode(error.code)
    } catch {
      Console.complain("\(error)")
      return .inputOutput
    }
  }
}

/// An exit code of the tool, taken from `sysexits.h` if the header has a suitable code.
enum ExitCode: Int32 {
  case success = 0
  case notFound = 1
  case usage = 64
  case damaged = 65
  case inputOutput = 74
  case busy = 75

  init(_ code: PreferenceError.Code) {
    switch code {
    case .notAPreferencesFile, .laterVersion, .typeMismatch: self = .damaged
    case .invalidKey, .invalidValue: self = .usage
    case .busy: self = .busy
    default: self = .inputOutput
    }
  }
}

// MARK: Output

/// The standard streams of the tool.
enum Console {
  /// Writes a line without buffering, because the reader of a pipe may be waiting for the line.
  ///
  /// - Throws: An error if the line can't be written, for example because the disk is full. If the reader of a pipe is
  ///   gone, the signal SIGPIPE ends the tool, unless the tool was started with this signal ignored.
  static func write(_ line: String) throws(OutputError) { try emit(line + "\n", to: STDOUT_FILENO) }

  /// Writes a line with a key, a tab, and a text that belongs to the key.
  static func write(_ key: String, _ rest: String) throws(OutputError) { try write("\(shown(key))\t\(rest)") }

  /// Reads the standard input, or another open file, to its end.
  static func readAll(from descriptor: Int32 = STDIN_FILENO, named name: String = "standard input") throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw PreferenceError(
          .unreadable, "could not be read", path: name, underlying: SystemError("read", errno))
      }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Reads the standard input as text, without the newline at its end.
  ///
  /// A carriage return and a newline at the end are kept, because Swift regards the two as one character.
  static func readText() throws -> String {
    guard var text = String(validating: try readAll(), as: UTF8.self) else {
      throw UsageError(message: "the standard input is not UTF-8, as values are")
    }
    if text.hasSuffix("\n") { text.removeLast() }
    return text
  }

  static func complain(_ message: String) {
    // If the message can't be written, the tool's exit code is the only report of the failure.
    do throws(OutputError) { try emit("prefs: \(message)\n", to: STDERR_FILENO) } catch {}
  }

  /// Returns the key, or a quoted and escaped form of the key if the key isn't plain.
  ///
  /// A plain key isn't empty, and contains neither quotation marks nor ASCII control characters.
  static func shown(_ key: String) -> String {
    let isPlain =
      !key.isEmpty && key.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\"" && $0 != "\u{7f}" }
    return isPlain ? key : key.debugDescription
  }

  private static func emit(_ text: String, to descriptor: Int32) throws(OutputError) {
    do throws(SystemError) {
      try FileSystem().writeAll(Array(text.utf8), to: descriptor)
    } catch {
      throw OutputError(cause: error)
    }
  }
}

/// A failure to write the output.
struct OutputError: Error { let cause: SystemError }

/// Runs `body`, and turns an error of a system call into a `PreferenceError` with the path and the message `failure`.
func onFile<Result>(
  _ path: FilePath, _ failure: String, _ body: () throws(SystemError) -> Result
) throws -> Result {
  do throws(SystemError) { return try body() } catch {
    throw PreferenceError(.unwritable, failure, path: path.description, underlying: error)
  }
}
