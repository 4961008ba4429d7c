import Foundation

/// Where the program prints.
package protocol Console: Sendable {
  /// Prints a line for the person, or for the next program.
  func print(_ line: String) throws
  /// Prints a line about what went wrong.
  func printError(_ line: String)
}

/// The program's standard output and standard error.
struct StandardConsole: Console {
  func print(_ line: String) throws { try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }

  func printError(_ line: String) {
    // There is nobody left to tell if this fails.
    try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
  }
}
