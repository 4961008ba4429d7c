/// What a store of your own needs besides its values: turns for writers, notices for listeners, signals for properties, and
/// errors.
///
/// A ``CustomPreferenceStore`` has one and need not call it. A property keeps its decoded value until the hub is told of a
/// change, so a store whose medium is changed by others tells it of their changes:
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

  /// Creates the hub of one store.
  public init() {}

  /// Runs `body` while no other thread writes, then tells the keys that it returns.
  ///
  /// - Throws: What the body throws; `.nestedTransaction` if the calling thread is writing already; `.busy` if another
  ///   thread writes for more than five seconds.
  public func write(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) {
    try turn.take(within: Turn.defaultLimit)
    let keys = try inTurn(body)
    listeners.tell(keys)
  }

  private func inTurn(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) -> Set<String> {
    defer { turn.giveBack() }
    return try body()
  }

  /// Tells listeners, properties and observers that the values of these keys have changed.
  ///
  /// Call it after the new values can be read, with no lock held. ``write(_:)`` does so itself.
  public func tell(_ keys: Set<String>) { listeners.tell(keys) }

  /// Returns the keys that are told from now on.
  public func changes() -> PreferenceChanges { PreferenceChanges(of: listeners) }

  /// Returns the tellings of one key from now on.
  public func changes(of key: String) -> PreferenceChanges { PreferenceChanges(of: listeners, to: key) }

  /// Returns the signal of the key, which is sent each time the key is told.
  public func signal(forKey key: String) -> PreferenceSignal { listeners.signal(forKey: key) }

  /// Reports an error that could not be thrown to a caller to the readers of ``errors``.
  public func report(_ error: PreferenceError) { reports.report(error) }

  /// The errors that are reported from now on; each access begins a stream of its own.
  public var errors: AsyncStream<PreferenceError> { reports.stream() }
}
