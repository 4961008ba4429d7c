import Foundation

/// A type that prints the program's results and error messages.
package protocol Console: Sendable {
  /// Prints a line of the result, for a person or for the next program in a pipe.
  func print(_ line: String) throws
  /// Prints an error message, separately from the results.
  func printError(_ line: String)
}

/// The program's standard output and standard error.
struct StandardConsole: Console {
  func print(_ line: String) throws {
    do { try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) } catch {
      throw OutputError(description: "the output could not be written: \(error.localizedDescription)")
    }
  }

  func printError(_ line: String) {
    // The program can't report a failure to write to the standard error.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}

private struct OutputError: Error, CustomStringConvertible {
  let description: String
}
