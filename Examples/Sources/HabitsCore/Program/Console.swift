import Foundation

/// The output of the program.
package protocol Console: Sendable {
  /// Prints a line for the person, or for the next program.
  func print(_ line: String) throws
  /// Prints an error message on the standard error.
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
    // If this fails too, the failure can't be reported.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}

private struct OutputError: Error, CustomStringConvertible {
  let description: String
}
