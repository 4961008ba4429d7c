import HabitsCore
import Synchronization

/// A console that records what is printed.
final class RecordingConsole: Console {
  private let printed = Mutex<(output: [String], errors: [String])>(([], []))

  var output: String { printed.withLock { $0.output.joined(separator: "\n") } }
  var errors: String { printed.withLock { $0.errors.joined(separator: "\n") } }

  func print(_ line: String) { printed.withLock { $0.output.append(line) } }
  func printError(_ line: String) { printed.withLock { $0.errors.append(line) } }
}
