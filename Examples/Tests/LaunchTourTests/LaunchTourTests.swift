#if os(macOS) || os(Linux)
  import Foundation
  import Testing

  @Suite struct LaunchTourTests {
    @Test func restartsAServiceAndShutsDownAtASignal() throws {
      let output = try run()
      let last = output.split(separator: "\n").suffix(12).map(String.init)
      #expect(last.first == "ready: true")
      // Independent steps are shut down concurrently, so their lines come in any order.
      #expect(Set(last[1...3]) == ["Prices: disconnected", "Search: closed the index", "Database: closed"])
      #expect(
        last[4...] == [
          "Logging: flushed", "running: prices runs", "running: prices is ready",
          "running: prices ended, runs again in 20 ms: failed: the connection was lost", "running: prices runs again",
          "running: prices is ready", "running: prices ended", "exit code: 0",
        ])
      #expect(output.contains("warning: crash analytics (skipped): requires crash reporter, which was skipped"))
    }

    /// Runs the program, which is built in the folder of the tests, and returns its output.
    private func run() throws -> String {
      let process = Process()
      let pipe = Pipe()
      #if os(macOS)
        final class Here {}
        let folder = Bundle(for: Here.self).bundleURL.deletingLastPathComponent()
      #else
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      #endif
      let picture = FileManager.default.temporaryDirectory.appending(path: "LaunchTour-\(UUID().uuidString).svg")
      defer { try? FileManager.default.removeItem(at: picture) }
      process.executableURL = folder.appending(path: "LaunchTour")
      process.arguments = [picture.path]
      process.standardOutput = pipe
      try process.run()
      let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(try String(contentsOf: picture, encoding: .utf8).hasPrefix("<svg"))
      return String(decoding: output, as: UTF8.self)
    }
  }
#endif
