internal import Locking

/// What a store of one's own needs besides its values: turns for those who write, notices for those who listen.
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
  private let listeners = ChangeHub()
  private let reports = ErrorHub()
  private let writer = Lock(())
  private let nesting = NestingGuard()

  /// A hub for one store.
  public init() {}

  /// Runs `body` while nobody else writes, then tells the listeners of the keys that it returns.
  ///
  /// - Throws: What the body throws; `.nestedTransaction` where the calling thread is writing already.
  public func write(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) {
    try nesting.check(nil)
    let keys = try writer.withLock { _ throws(PreferenceError) in
      try nesting.run(body)
    }
    listeners.tell(keys)
  }

  /// Tells those who listen that the values of these keys are others now.
  ///
  /// Call it after the new values can be read, with no lock held. What is written through ``write(_:)`` is told by it.
  public func tell(_ keys: Set<String>) { listeners.tell(keys) }

  /// The keys that are told from now on.
  public func changes() -> PreferenceChanges { PreferenceChanges(of: listeners) }

  /// Tells everyone who reads ``errors`` of an error that nobody could be thrown.
  public func report(_ error: PreferenceError) { reports.report(error) }

  /// The errors that are reported from now on; each access begins a stream of its own.
  public var errors: AsyncStream<PreferenceError> { reports.stream() }
}
