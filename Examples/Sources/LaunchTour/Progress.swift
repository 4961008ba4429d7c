import Foundation
import LaunchInitializers
import Spellbook

/// Shows the events of a launch: a progress line on a terminal, and what became of the services afterwards.
struct Progress {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  /// Returns a line for each event of a service, when all events have come.
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

  /// Writes over the line: to the start of it, erase it, then the text.
  private func redraw(_ text: String) { FileHandle.standardError.write(Data("\r\u{1b}[K\(text.prefix(79))".utf8)) }
}
