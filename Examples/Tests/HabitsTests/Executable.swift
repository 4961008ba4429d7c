#if os(macOS) || os(Linux)
  import Foundation

  /// The built program, with a file of its own to keep habits in.
  final class Executable: Sendable {
    struct Result: Equatable {
      var code: Int32 = 0
      var output = ""
      var errors = ""
    }

    let folder: URL
    var file: URL { folder.appending(path: "habits.preferences") }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "HabitsTests-\(UUID().uuidString)")
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs the program to its end.
    func run(_ arguments: String...) throws -> Result { try start(arguments)() }

    /// Starts the program.
    ///
    /// - Parameter wrapper: A shell's command line in which `"$@"` runs the program.
    /// - Returns: What waits for its end.
    func start(_ arguments: [String], in wrapper: String = "exec \"$@\"") throws -> () throws -> Result {
      let process = Process()
      let (output, errors) = (Pipe(), Pipe())
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", wrapper, "sh", Executable.path] + arguments
      process.environment = [
        "HABITS_FILE": file.path, "TMPDIR": folder.path, "HOME": folder.path, "TZ": Executable.zoneWhereItIsNoon(),
      ]
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      return {
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaints = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
          code: process.terminationStatus, output: String(decoding: printed, as: UTF8.self),
          errors: String(decoding: complaints, as: UTF8.self))
      }
    }

    /// A time zone in which the day does not end while a test runs.
    ///
    /// Zones of that kind are named for the hours that they are behind Greenwich.
    private static func zoneWhereItIsNoon() -> String {
      let hour = Int(Date().timeIntervalSince1970) / 3600 % 24
      return hour < 12 ? "Etc/GMT-\(12 - hour)" : "Etc/GMT+\(hour - 12)"
    }

    /// The program is built beside the tests.
    private static var path: String {
      #if os(macOS)
        let folder = Bundle(for: Executable.self).bundleURL.deletingLastPathComponent()
      #else
        let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      #endif
      return folder.appending(path: "Habits").path
    }
  }
#endif
