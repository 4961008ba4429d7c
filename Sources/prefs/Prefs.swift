internal import Support
import PreferenceStorage

/// The command-line tool over a preferences file.
@main
struct Prefs {
  static func main() async {
    exit(await run(arguments).rawValue)
  }

  /// The arguments byte for byte: a file's name need not be text.
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
      case .completion(let shell):
        try Console.write(Completion.script(for: shell))
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
