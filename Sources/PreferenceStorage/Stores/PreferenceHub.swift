/// What a store of your own needs besides its values: turns for writers, notices for listeners.
///
/// A ``CustomPreferenceStore`` has one and need not call it; one whose medium others change tells it of their changes:
///
/// ```swift
/// func reload() throws(PreferenceError) {
///   try hub.write { () throws(PreferenceError) in try readMedium() }  // returns the keys that it found changed
/// }
/// ```
///
/// Safe to use from any thread.
public final class PreferenceHub: Sendable {
  private let listeners = ChangeBroadcaster()
  private let reports = ErrorBroadcaster()
  private let turn = Turn(of: nil)

  /// A hub for one store.
  public init() {}

  /// Runs `body` while no other thread writes, then tells the listeners the keys that it returns.
  ///
  /// - Throws: What the body throws; `.nestedTransaction` where the calling thread is writing
  ///   already; `.busy` where another thread writes for more than five seconds.
  public func write(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) {
    try turn.take(within: FilePreferenceStore.defaultLockWaitLimit)
    let keys = try inTurn(body)
    listeners.tell(keys)
  }

  private func inTurn(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) -> Set<String> {
    defer { turn.giveBack() }
    return try body()
  }

  /// Tells the listeners that the values of these keys are others now.
  ///
  /// Call it after the new values can be read, with no lock held. ``write(_:)`` does so itself.
  public func tell(_ keys: Set<String>) { listeners.tell(keys) }

  /// The keys that are told from now on.
  public func changes() -> PreferenceChanges { PreferenceChanges(of: listeners) }

  /// Reports an error that no caller could be thrown to the readers of ``errors``.
  public func report(_ error: PreferenceError) { reports.report(error) }

  /// The errors that are reported from now on; each access begins a stream of its own.
  public var errors: AsyncStream<PreferenceError> { reports.stream() }
}
