import Dispatch
import Foundation

/// The names of the checks.
@MainActor enum Checks {
  static var count = 0
  static var failed = 0
}

/// Checks one behavior.
@MainActor func check(_ sentence: String, _ body: @MainActor () async throws -> Bool) async {
  do {
    note(sentence, try await body() ? nil : "it isn't so")
  } catch {
    note(sentence, "\(error)")
  }
}

/// Records the result of a check: a failure, or nil if the check passed.
@MainActor func note(_ sentence: String, _ failure: String?) {
  Checks.count += 1
  guard let failure else { return }
  Checks.failed += 1
  print("FAILED: \(sentence): \(failure)")
}

/// The error of a check that waited too long.
struct TooLate: Error {}

/// Returns the result of a body, or throws if the body takes longer than a minute.
func soon<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
  try await withThrowingTaskGroup(of: Result.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: .seconds(60))
      throw TooLate()
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}

/// A folder that is removed with the last reference to this object.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: "platforms-\(UUID())")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    do { try FileManager.default.removeItem(at: url) } catch { print("\(url.path) is left: \(error)") }
  }

  func file(_ name: String = "settings.preferences") -> URL { url.appending(path: name) }
}

/// Runs this program with an argument, and returns its status and its standard error.
func runChild(_ argument: String) throws -> (status: Int32, message: String) {
  let process = Process()
  process.executableURL = URL(filePath: CommandLine.arguments[0])
  process.arguments = [argument]
  let output = Pipe()
  process.standardError = output
  try process.run()
  let message = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: message, as: UTF8.self))
}

/// Returns the number of files that the program has open.
func openFileCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
