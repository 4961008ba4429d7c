import Foundation
import Observation
import Spellbook

/// A type that makes the sound at the end of a session.
nonisolated protocol Chime: Sendable { func ring() }

nonisolated struct BellChime: Chime { func ring() { print("\u{7}", terminator: "") } }
nonisolated struct SilentChime: Chime { func ring() {} }

/// A focus session that ran to its end.
nonisolated struct FocusSession: Codable, Hashable, Sendable {
  var end: Date
  var minutes: Int
}

// A registry reads its keys on any thread. Unlike the rest of the module, the keys therefore don't belong to the main
// actor.
nonisolated extension InjectionKeys {
  static let chime = InjectionKey<any Chime>(scope: .singleton) { BellChime() }
    .preview { SilentChime() }
  static let sessionLog = InjectionKey(scope: .singleton, .onMainActor { SessionLog() })
    .liveInTests()
  static let focusModel = InjectionKey(.onMainActor { FocusModel() }).liveInTests()
  static let historyModel = InjectionKey(.onMainActor { HistoryModel() }).liveInTests()
}

nonisolated extension PreferenceKeys {
  static let focusMinutes = PreferenceKey("focus.minutes", default: 25)
  static let rings = PreferenceKey("focus.rings", default: true)
  static let sessions = PreferenceKey<[FocusSession]>("focus.sessions", default: [])
}

/// The log of past sessions, a service that several models share and views observe.
@Observable final class SessionLog {
  @ObservationIgnored @Preference(.sessions) private(set) var sessions
  @ObservationIgnored @Injected(.now) private var now

  /// The total length of all sessions, in minutes.
  var total: Int { sessions.reduce(0) { $0 + $1.minutes } }

  /// Adds a session that ends now.
  func add(minutes: Int) { sessions.append(FocusSession(end: now(), minutes: minutes)) }
}
