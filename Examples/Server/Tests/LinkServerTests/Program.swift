import Foundation
import HummingbirdTesting
import Synchronization

/// The built program, in a separate process that listens on a free port.
final class Program: Sendable {
  /// The process, to which only one thread at a time sends a signal.
  private let process: Mutex<Process>
  private let output = Output()
  let port: Int

  /// The program's output so far, including error messages.
  var log: String { output.text }

  /// Starts the program in a folder, and returns once the program is listening.
  init(in folder: Folder) async throws {
    let process = Process()
    process.executableURL = Self.folder.appending(path: "links")
    process.currentDirectoryURL = folder.url
    process.environment = ["LINKS_SERVER_PORT": "0", "LINKS_ADMIN_TOKEN": "secret"]
    process.standardOutput = output.pipe
    process.standardError = output.pipe
    try process.run()
    self.process = Mutex(process)
    let port = await output.first { text -> Int? in
      text.split(separator: "\n").first { $0.contains("Listening") }?.firstMatch(of: /port=([0-9]+)/)
        .flatMap { Int($0.output.1) }
    }
    guard let port else { throw ProgramError(log: output.text) }
    self.port = port
  }

  /// Ends the program with SIGTERM, and returns its exit code after all its output was read.
  func terminate() async -> Int32 {
    let code = process.withLock { process in
      process.terminate()
      process.waitUntilExit()
      return process.terminationStatus
    }
    _ = await output.first { _ in Never?.none }
    return code
  }

  deinit { process.withLock { if $0.isRunning { $0.terminate() } } }

  /// Runs the tool `prefs`, and returns its exit code.
  static func prefs(_ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = folder.appending(path: "prefs")
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// The folder that contains the built programs and tests.
  private static var folder: URL {
    #if os(macOS)
      Bundle(for: Program.self).bundleURL.deletingLastPathComponent()
    #else
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    #endif
  }
}

/// An error for a program that ended before it listened, or that can't be reached.
struct ProgramError: Error {
  let log: String
}

/// A recorder of a process's output, which wakes waiting tasks when output arrives.
private final class Output: Sendable {
  let pipe = Pipe()
  private let state = Mutex((text: "", hasEnded: false))
  private let bells = Mutex<[AsyncStream<Void>.Continuation]>([])

  var text: String { state.withLock(\.text) }

  init() {
    pipe.fileHandleForReading.readabilityHandler = { [weak self] file in
      let data = file.availableData
      if data.isEmpty { file.readabilityHandler = nil }
      self?.state.withLock { state in
        state.text += String(decoding: data, as: UTF8.self)
        state.hasEnded = data.isEmpty
      }
      for bell in self?.bells.withLock(\.self) ?? [] { bell.yield() }
    }
  }

  /// Returns the first result of `search` in the growing output, or nil if the output ends without a result.
  func first<Result>(_ search: (String) -> Result?) async -> Result? {
    let (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    bells.withLock { $0.append(bell) }
    bell.yield()
    for await _ in rings {
      let (text, hasEnded) = state.withLock { ($0.text, $0.hasEnded) }
      if let result = search(text) { return result }
      if hasEnded { return nil }
    }
    return nil
  }
}
