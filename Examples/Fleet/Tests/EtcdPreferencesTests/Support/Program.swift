import Foundation

/// The program `fleet`, which is built together with the tests.
enum Program {
  struct Output: Equatable {
    var code: Int32 = 0
    var text = ""
    var complaints = ""
  }

  /// Runs the program to its end, and returns its output.
  static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Output {
    let process = try Running(arguments, environment: environment)
    return try await onThread { process.output() }
  }

  /// A process that runs the program.
  final class Running: Sendable {
    private let process = Process()
    private let (text, complaints) = (Pipe(), Pipe())

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
      // The program is in the same folder as the tests.
      process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "fleet")
      process.arguments = arguments
      process.environment = environment
      process.standardOutput = text
      process.standardError = complaints
      try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// The lines that the program prints on the standard output, as they arrive.
    var lines: AsyncThrowingStream<String, any Error> {
      let handle = text.fileHandleForReading
      return AsyncThrowingStream { continuation in
        Thread.detachNewThread {
          var rest = Data()
          while true {
            let data = handle.availableData
            if data.isEmpty { return continuation.finish() }
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
              continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
              rest = Data(rest[rest.index(after: end)...])
            }
          }
        }
      }
    }

    /// Waits for the program to end, and returns its output.
    func output() -> Output {
      let printed = text.fileHandleForReading.readDataToEndOfFile()
      let complained = complaints.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return Output(
        code: process.terminationStatus, text: String(decoding: printed, as: UTF8.self),
        complaints: String(decoding: complained, as: UTF8.self))
    }
  }
}
