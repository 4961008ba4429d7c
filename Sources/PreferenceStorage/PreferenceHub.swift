import Support
import Synchronization

/// The parts that a store of your own needs besides its values: a lock for writers, notifications of listeners and
/// properties, and a stream of errors.
///
/// A ``CustomPreferenceStore`` has a hub, and notifies it only of changes that others make to the medium: a property
/// keeps its decoded value until the hub is told of a change.
///
/// ```swift
/// func reload() throws(PreferenceError) {
///   try hub.write { () throws(PreferenceError) in try readMedium() }  // returns the keys that it found changed
/// }
/// ```
///
/// Safe to use from any thread.
public final class PreferenceHub: Sendable {
  private struct Signal: Sendable { weak var signal: PreferenceSignal? }

  private struct State: Sendable {
    var listeners: [ObjectIdentifier: ChangeListener] = [:]
    var signals: [String: Signal] = [:]
    var recordReaders: [Int: AsyncStream<PreferenceChange>.Continuation] = [:]
    var errorReaders: [Int: AsyncStream<PreferenceError>.Continuation] = [:]
    var nextReader = 0
  }

  let turn: Turn
  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)
  private let recordReaderCount = Atomic<Int>(0)
  private let signalCount = Atomic<Int>(0)
  /// The declarations of the store's keys that the program has used.
  package let declarations = PreferenceDeclarations()

  /// Creates the hub of one store.
  public init() { turn = Turn(of: nil) }

  /// Creates the hub of a file.
  init(ofFile path: String) { turn = Turn(of: path) }

  /// Runs `body` while no other thread writes, then notifies readers that the keys returned by `body` have changed.
  ///
  /// - Throws: What the body throws; `.nestedTransaction` if the calling thread is already writing; `.busy` if another
  ///   thread writes for more than five seconds.
  public func write(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) {
    try turn.take(within: Turn.defaultLimit)
    let keys: Set<String>
    do {
      defer { turn.giveBack() }
      keys = try body()
    }
    tell(keys)
  }

  // MARK: Changes

  /// Returns the changes from now on, to all keys or to only one.
  public func changes(of key: String? = nil) -> PreferenceChanges { changes(of: key) {} }

  /// Returns the changes to one key, or to all for nil, and calls `onEnd` when the sequence ends.
  ///
  /// The sequence retains what `onEnd` captures until it ends.
  func changes(of key: String?, onEnd: @escaping @Sendable () -> Void) -> PreferenceChanges {
    let (stream, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let listener = ChangeListener(key: key, bell: bell)
    let identifier = ObjectIdentifier(listener)
    bell.onTermination = { [self] _ in
      removeListener(identifier)
      onEnd()
    }
    state.withLock { state in
      state.listeners[identifier] = listener
      listenerCount.store(state.listeners.count, ordering: .sequentiallyConsistent)
    }
    return PreferenceChanges(of: listener, stream)
  }

  private func removeListener(_ listener: ObjectIdentifier) {
    // This may be the last reference to the listener, which must not be deinitialized under the lock.
    let removed = state.withLock { state in
      defer { listenerCount.store(state.listeners.count, ordering: .sequentiallyConsistent) }
      return state.listeners.removeValue(forKey: listener)
    }
    withExtendedLifetime(removed) {}
  }

  /// Returns the signal of the key, which is sent each time that ``tell(_:)`` is called with the key.
  public func signal(forKey key: String) -> PreferenceSignal {
    state.withLock { state in
      if let signal = state.signals[key]?.signal { return signal }
      let new = PreferenceSignal { [weak self] in self?.removeSignal(forKey: key) }
      state.signals[key] = Signal(signal: new)
      signalCount.store(state.signals.count, ordering: .sequentiallyConsistent)
      return new
    }
  }

  private func removeSignal(forKey key: String) {
    // A new signal of the key must not be deinitialized under the lock, since its deinitializer takes the lock.
    let successor = state.withLock { state in
      let successor = state.signals[key]?.signal
      if successor == nil { state.signals[key] = nil }
      signalCount.store(state.signals.count, ordering: .sequentiallyConsistent)
      return successor
    }
    withExtendedLifetime(successor) {}
  }

  /// Notifies listeners, properties and observers that the values of these keys have changed.
  ///
  /// Call this method after the new values can be read, with no lock held. ``write(_:)`` calls it for you.
  public func tell(_ keys: Set<String>) {
    guard !keys.isEmpty else { return }
    let (signals, listeners) = state.withLock { state in
      (state.signals.isEmpty ? [] : keys.compactMap { state.signals[$0]?.signal }, Array(state.listeners.values))
    }
    // All values are outdated before the first observer runs, which may read them all and may take long.
    for signal in signals { signal.counter.add(1, ordering: .releasing) }
    for listener in listeners { listener.hear(keys) }
    for signal in signals { signal.notifyObservers() }
  }

  /// Returns each change from now on, in order, and calls `onEnd` when the stream ends.
  ///
  /// Unlike ``changes(of:)``, the stream has every value, also those that were replaced at once.
  func records(onEnd: @escaping @Sendable () -> Void) -> AsyncStream<PreferenceChange> {
    let (stream, reader) = AsyncStream.makeStream(of: PreferenceChange.self)
    let number = state.withLock { state in
      state.nextReader += 1
      state.recordReaders[state.nextReader] = reader
      recordReaderCount.store(state.recordReaders.count, ordering: .sequentiallyConsistent)
      return state.nextReader
    }
    reader.onTermination = { [self] _ in
      state.withLock { state in
        state.recordReaders[number] = nil
        recordReaderCount.store(state.recordReaders.count, ordering: .sequentiallyConsistent)
      }
      onEnd()
    }
    return stream
  }

  /// Passes changes to the readers of records; called in the thread's turn, so that they stay in order.
  func passOn(_ changes: [PreferenceChange]) {
    for reader in state.withLock({ Array($0.recordReaders.values) }) { for change in changes { reader.yield(change) } }
  }

  /// Whether there is a reader of each change.
  var hasRecordReaders: Bool { recordReaderCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Whether there is a listener, or a reader of each change.
  var hasListeners: Bool { listenerCount.load(ordering: .sequentiallyConsistent) > 0 || hasRecordReaders }

  /// Whether there is a listener, or a property that has a signal.
  ///
  /// A writer asks after it has made a change: a listener that is added later reads the new value anyway.
  var isHeard: Bool { hasListeners || signalCount.load(ordering: .sequentiallyConsistent) > 0 }

  // MARK: Errors

  /// Reports an error that could not be thrown to a caller to the readers of ``errors``.
  public func report(_ error: PreferenceError) {
    for reader in state.withLock({ Array($0.errorReaders.values) }) { reader.yield(error) }
  }

  /// The errors that are reported from now on; each access returns a new stream.
  ///
  /// A reader that is more than 64 errors behind misses the oldest.
  public var errors: AsyncStream<PreferenceError> {
    let (stream, reader) = AsyncStream.makeStream(of: PreferenceError.self, bufferingPolicy: .bufferingNewest(64))
    let number = state.withLock { state in
      state.nextReader += 1
      state.errorReaders[state.nextReader] = reader
      return state.nextReader
    }
    reader.onTermination = { [weak self] _ in self?.state.withLock { $0.errorReaders[number] = nil } }
    return stream
  }
}
