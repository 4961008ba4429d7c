import Observation
import Spellbook

/// The model for `FocusView`, which shows the timer.
@Observable final class FocusModel {
  @ObservationIgnored @Preference(.focusMinutes) var minutes
  @ObservationIgnored @Preference(.rings) var rings
  @ObservationIgnored @Injected(.chime) private var chime
  @ObservationIgnored @Injected(.clock) private var clock
  @ObservationIgnored @Injected(.sessionLog) private var log
  /// The remaining minutes of a session, or nil if none runs.
  private(set) var remaining: Int?

  var title: String {
    remaining.map { "\($0) min left" } ?? "Focus for \(minutes) min"
  }

  /// Runs a session until it ends or its task is canceled.
  func run() async {
    defer { remaining = nil }
    let length = minutes
    do {
      for left in stride(from: length, to: 0, by: -1) {
        remaining = left
        try await clock.sleep(for: .seconds(60))
      }
    } catch {
      // The task was canceled, so the session isn't added to the log.
      return
    }
    if rings { chime.ring() }
    log.add(minutes: length)
  }
}

/// The model for `HistoryView`, which sums up the past sessions.
@Observable final class HistoryModel {
  @ObservationIgnored @Injected(.sessionLog) private var log
  @ObservationIgnored @Preference(.focusMinutes) private var minutes

  var summary: String {
    let goal = 4 * minutes
    return "\(log.sessions.count) sessions, \(log.total) of \(goal) min"
  }
}
