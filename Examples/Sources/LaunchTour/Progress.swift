import Foundation
import LaunchInitializers
import Spellbook

/// A display of a launch's events, with a progress line if the standard error is a terminal.
struct Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  /// Shows the progress until the last event, and returns a line for each event of the phase `running`.
  func show(_ events: AsyncStream<LaunchEvent>) async -> [String] {
    var running: [String] = []
    var lines: [String] = []
    for await event in events {
      switch (event.kind, event.id) {
      case (.began(attempt: 1), let id?): running.append(id)
      case (.ended, let id?): running.removeAll { $0 == id }
      default: break
      }
      if event.phase == .running { lines.append("\(event)") }
      if isTerminal { redraw("\(event.phase): \(running.joined(separator: ", "))") }
    }
    if isTerminal { redraw("") }
    return lines
  }

  /// Replaces the current line of the terminal.
  private func redraw(_ text: String) { FileHandle.standardError.write(Data("\r\u{1b}[K\(text.prefix(79))".utf8)) }
}
