import Observation
import Spellbook

/// The model of the timer's view.
@Observable final class FocusModel {
  @ObservationIgnored @Preference(.focusMinutes) var minutes
  @ObservationIgnored @Preference(.rings) var rings
  @ObservationIgnored @Injected(.chime) private var chime
  @ObservationIgnored @Injected(.clock) private var clock
  @ObservationIgnored @Injected(.sessionLog) private var log
  /// The minutes that remain while a session runs.
  private(set) var remaining: Int?

  var title: String {
    remaining.map { "\($0) min left" } ?? "Focus for \(minutes) min"
  }

  /// Runs a session, until its end or until its task is canceled.
  func run() async {
    defer { remaining = nil }
    let length = minutes
    do {
      for left in stride(from: length, to: 0, by: -1) {
        remaining = left
        try await clock.sleep(for: .seconds(60))
      }
    } catch {
      // The task was canceled, so the session doesn't count.
      return
    }
    if rings { chime.ring() }
    log.add(minutes: length)
  }
}

/// The model of the list of past sessions.
@Observable final class HistoryModel {
  @ObservationIgnored @Injected(.sessionLog) private var log
  @ObservationIgnored @Preference(.focusMinutes) private var minutes

  var summary: String {
    let goal = 4 * minutes
    return "\(log.sessions.count) sessions, \(log.total) of \(goal) min"
  }
}
