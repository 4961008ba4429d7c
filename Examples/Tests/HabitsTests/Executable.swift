#if os(macOS) || os(Linux)
  import Foundation

  /// The built program, which a test runs with its own habits file.
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
    /// - Returns: A function that waits for the program to end and returns its result.
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

    /// Returns a time zone in which it is about noon, so that the day doesn't end while a test runs.
    ///
    /// A name such as `Etc/GMT+3` means three hours behind Greenwich.
    private static func zoneWhereItIsNoon() -> String {
      let hour = Int(Date().timeIntervalSince1970) / 3600 % 24
      return hour < 12 ? "Etc/GMT-\(12 - hour)" : "Etc/GMT+\(hour - 12)"
    }

    /// The path of the program, which is built in the folder of the tests.
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
