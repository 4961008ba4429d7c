#if os(Linux)
  internal import Foundation
  internal import Support

  /// The program `strace`, which shows the system calls of another program, or makes them fail.
  package enum Strace {
    package static let path = "/usr/bin/strace"

    /// Whether `strace` exists and may trace processes here, and no sanitizer adds system calls.
    package static var works: Bool {
      guard FileManager.default.isExecutableFile(atPath: path), dlsym(nil, "__tsan_init") == nil,
        dlsym(nil, "__asan_init") == nil
      else { return false }
      do { return try run(["-o", "/dev/null", "/bin/true"]) == 0 } catch { return false }
    }

    /// Runs `strace` without standard streams, with additional variables in its environment, and returns its exit status.
    package static func run(_ arguments: [String], adding variables: [String: String] = [:]) throws -> Int32 {
      let strace = Process()
      strace.executableURL = URL(filePath: path)
      strace.arguments = arguments
      strace.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
      (strace.standardInput, strace.standardOutput, strace.standardError) = (nil, nil, nil)
      try strace.run()
      strace.waitUntilExit()
      return strace.terminationStatus
    }
  }
#endif
