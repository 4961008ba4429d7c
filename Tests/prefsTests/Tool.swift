import Foundation

/// The tool, which runs in a separate process.
enum Tool {
  /// The path of the tool, which is built in the folder of the tests.
  static var path: String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "prefs").path
  }

  struct Result: Equatable {
    /// The exit status; nil if a signal ended the process.
    var status: Int32?
    var output = ""
    var errors = ""
  }

  static func run(_ executable: String, _ arguments: [String]) throws -> Result {
    let process = Process()
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: executable)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationReason == .exit ? process.terminationStatus : nil,
      output: String(decoding: text, as: UTF8.self), errors: String(decoding: complaint, as: UTF8.self))
  }

  static func run(_ arguments: [String]) throws -> Result { try run(path, arguments) }
}
