import PreferenceStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The command-line tool over a preferences file.
@main
struct Prefs {
  static func main() async {
    exit(await run(Array(CommandLine.arguments.dropFirst())).rawValue)
  }

  private static func run(_ arguments: [String]) async -> ExitCode {
    do {
      switch try Invocation(arguments) {
      case .help:
        print(Help.text)
        return .success
      case .command(let command, let path):
        return try await command.run(on: path)
      }
    } catch let error as UsageError {
      Console.complain("\(error.message)\nTry 'prefs --help'.")
      return .usage
    } catch let error as PreferenceError {
      Console.complain(error.description)
      return ExitCode(error.code)
    } catch {
      Console.complain("\(error)")
      return .inputOutput
    }
  }
}
