import Support
import Synchronization

/// The parts that a custom store needs besides its values: a lock for writers, change notifications, and error streams.
///
/// A ``CustomPreferenceStore`` has one hub. The store's own writes notify the hub automatically, so the store calls the
/// hub only when other programs or objects have changed the store's medium, such as a database. A property keeps its
/// decoded value until the hub is notified.
///
/// ```swift
/// func reload() throws(PreferenceError) {
///   try hub.write { () throws(PreferenceError) in try readMedium() }  // returns the keys that it found changed
/// }
/// ```
///
/// A hub is safe to use from any thread.
public final class PreferenceHub: Sendable {
  private struct Signal: Sendable { weak var signal: PreferenceSignal? }

  private struct State: Sendable {
    var listeners: [ObjectIdentifier: ChangeListener] = [:]
    var signals: [String: Signal] = [:]
    var recordReaders: [Int: AsyncStream<PreferenceChange>.Continuation] = [:]
    var errorReaders: [Int: AsyncStream<PreferenceError>.Continuation] = [:]
    var nextReader = 0
  }

  private let turn = Turn((), of: nil)
  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)
  private let recordReaderCount = Atomic<Int>(0)
  private let signalCount = Atomic<Int>(0)
  /// The declarations that the program has used for the store's keys.
  package let declarations = PreferenceDeclarations()

  /// Creates a hub for a single store.
  public init() {}

  /// Runs `body` while no other thread writes, then notifies readers that the keys returned by `body` have changed.
  ///
  /// - Throws: What the body throws; `.nestedTransaction` if the calling thread is already writing; `.busy` if another
  ///   thread writes for more than five seconds.
  public func write(_ body: () throws(PreferenceError) -> Set<String>) throws(PreferenceError) {
    tell(try turn.take(within: Patience.defaultLimit) { _ throws(PreferenceError) in try body() })
  }

  // MARK: Changes

  /// Returns a sequence of the future changes to one key, or to all keys if `key` is nil.
  public func changes(of key: String? = nil) -> PreferenceChanges { changes(of: key) {} }

  /// Returns a sequence of the future changes to one key, or to all keys if `key` is nil.
  ///
  /// When the sequence ends, it calls `onEnd`. Until then, it retains the objects that `onEnd` captures.
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
    // `state` may hold the last reference to the listener, which must not be deinitialized under the lock.
    let removed = state.withLock { state in
      defer { listenerCount.store(state.listeners.count, ordering: .sequentiallyConsistent) }
      return state.listeners.removeValue(forKey: listener)
    }
    withExtendedLifetime(removed) {}
  }

  /// Returns the signal through which ``tell(_:)`` notifies properties and observers of changes to the key.
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
    // Another thread may have created a new signal for the key. If `successor` is the last reference to this signal, it
    // must be released without the lock, because the signal's deinitializer takes the lock.
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
  /// Call this method when the new values can already be read, and while the calling thread holds no lock.
  /// ``write(_:)`` calls this method for you.
  public func tell(_ keys: Set<String>) {
    guard !keys.isEmpty else { return }
    let (signals, listeners) = state.withLock { state in
      (state.signals.isEmpty ? [] : keys.compactMap { state.signals[$0]?.signal }, Array(state.listeners.values))
    }
    // All versions increase before the first observer runs, since an observer may read any value and take a long time.
    for signal in signals { signal.counter.add(1, ordering: .releasing) }
    for listener in listeners { listener.hear(keys) }
    for signal in signals { signal.notifyObservers() }
  }

  /// Returns a stream of each change from now on, in order, and calls `onEnd` when the stream ends.
  ///
  /// Unlike a sequence of ``changes(of:)``, the stream contains every new value, even if it was replaced immediately.
  func records(onEnd: @escaping @Sendable () -> Void) -> AsyncStream<PreferenceChange> {
    let (stream, reader) = AsyncStream.makeStream(of: PreferenceChange.self)
    let number = state.withLock { state in
      state.nextReader += 1
      state.recordReaders[state.nextReader] = reader
      recordReaderCount.store(state.recordReaders.count, ordering: .sequentiallyConsistent)
      return state.nextReader
    }
    reader.onTermination = { [self] _ in
      // The lock is released before the reader.
      let removed = state.withLock { state in
        defer { recordReaderCount.store(state.recordReaders.count, ordering: .sequentiallyConsistent) }
        return state.recordReaders.removeValue(forKey: number)
      }
      withExtendedLifetime(removed) {}
      onEnd()
    }
    return stream
  }

  /// Sends the changes to the streams of `records(onEnd:)`.
  ///
  /// One thread at a time may call this method, so that the changes are sent in order.
  func passOn(_ changes: [PreferenceChange]) {
    for reader in state.withLock({ Array($0.recordReaders.values) }) { for change in changes { reader.yield(change) } }
  }

  /// Whether a stream of `records(onEnd:)` is open.
  var hasRecordReaders: Bool { recordReaderCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Whether there is a listener, or an open stream of `records(onEnd:)`.
  var hasListeners: Bool { listenerCount.load(ordering: .sequentiallyConsistent) > 0 || hasRecordReaders }

  /// Whether any listener, stream of records, or signal has to be notified of changes.
  ///
  /// A writer must make its change before it reads this property. If a listener is added after that read, the listener
  /// finds the new value in the store, and needs no notification.
  var isHeard: Bool { hasListeners || signalCount.load(ordering: .sequentiallyConsistent) > 0 }

  // MARK: Errors

  /// Reports to the readers of ``errors`` an error that couldn't be thrown to a caller.
  public func report(_ error: PreferenceError) {
    for reader in state.withLock({ Array($0.errorReaders.values) }) { reader.yield(error) }
  }

  /// The errors that are reported from now on; each access returns a new stream.
  ///
  /// A reader that is more than 64 errors behind misses the oldest errors. The stream doesn't end when the hub is
  /// released.
  public var errors: AsyncStream<PreferenceError> {
    let (stream, reader) = AsyncStream.makeStream(of: PreferenceError.self, bufferingPolicy: .bufferingNewest(64))
    let number = state.withLock { state in
      state.nextReader += 1
      state.errorReaders[state.nextReader] = reader
      return state.nextReader
    }
    reader.onTermination = { [weak self] _ in
      // The lock is released before the reader.
      let removed = self?.state.withLock { $0.errorReaders.removeValue(forKey: number) }
      withExtendedLifetime(removed) {}
    }
    return stream
  }
}
