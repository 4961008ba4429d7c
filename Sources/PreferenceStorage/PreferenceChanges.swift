public import Observation
import Support
public import Synchronization

/// The changes of a store, from the call of `changes()` on: each element is the keys that changed since the one before.
///
/// A slow reader gets fewer and larger sets, never an old value: a reader that gets a key reads its value from the store,
/// which is the latest. No change is lost, and the sequence ends when its task is cancelled.
///
/// ```swift
/// for await keys in store.changes() where keys.contains("volume") {
///   try player.setVolume(store.value(Int.self, forKey: "volume") ?? 5)
/// }
/// ```
///
/// For one reader: two iterators share the elements between them. It keeps its store's file open, not the store.
public struct PreferenceChanges: AsyncSequence, Sendable {
  private let listener: ChangeListener
  private let stream: AsyncStream<Void>
  private var rename: (@Sendable (String) -> String?)?

  /// Until it ends it keeps whatever `onEnd` holds.
  init(
    of broadcaster: ChangeBroadcaster, to key: String? = nil, onEnd: @escaping @Sendable () -> Void = {}
  ) {
    let (stream, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let listener = ChangeListener(key: key, bell: bell)
    self.stream = stream
    self.listener = listener
    let identifier = ObjectIdentifier(listener)
    bell.onTermination = { [broadcaster] _ in
      broadcaster.remove(identifier)
      onEnd()
    }
    broadcaster.add(listener)
  }

  /// Returns the same changes with other keys, for a store that keeps its values in another one.
  func renamingKeys(_ rename: @escaping @Sendable (String) -> String?) -> PreferenceChanges {
    var changes = self
    changes.rename = { [old = self.rename] key in
      if let old { old(key).flatMap(rename) } else { rename(key) }
    }
    return changes
  }

  /// Iterates over the changes since `changes()` was called, or since the last element.
  public func makeAsyncIterator() -> Iterator {
    Iterator(listener: listener, base: stream.makeAsyncIterator(), stream: stream, rename: rename)
  }

  /// Waits for changes and returns the keys.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let listener: ChangeListener
    fileprivate var base: AsyncStream<Void>.Iterator
    // Keeps the stream, which ends with its last owner.
    fileprivate let stream: AsyncStream<Void>
    fileprivate let rename: (@Sendable (String) -> String?)?

    /// Returns the keys that changed since the last call; nil when the task was cancelled.
    public mutating func next() async -> Set<String>? {
      await next(isolation: #isolation)
    }

    /// Returns the keys that changed since the last call; nil when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Set<String>? {
      while true {
        var keys = listener.fetch()
        if let rename { keys = Set(keys.compactMap(rename)) }
        if !keys.isEmpty { return keys }
        guard await base.next(isolation: actor) != nil else { return nil }
      }
    }
  }
}

// MARK: Signals

/// The state of one key of a store, as its readers follow it: a version to compare, and an object to observe.
///
/// A store makes one for each key that a property reads, and has it for as long as a property does. What the store does when
/// a value changes is ``PreferenceHub/tell(_:)``.
///
/// The version grows after a new value can be read. A reader that keeps a value loads the version first, then reads the value,
/// and keeps both: while the version is the same, the value is too.
public final class PreferenceSignal: Observable, Sendable {
  @usableFromInline let counter = Atomic<UInt64>(1)
  private let registrar = ObservationRegistrar()
  /// The version of which a mismatch was reported.
  private let reportedVersion = Atomic<UInt64>(0)
  /// The key path by which the registrar knows the value.
  ///
  /// Kept here, since a key path that is written in place is retained by each read.
  private let path: any KeyPath<PreferenceSignal, Void> & Sendable = \PreferenceSignal.value
  private let onEnd: @Sendable () -> Void

  /// Creates the signal of a key.
  ///
  /// - Parameter onEnd: Called when the last reader is gone.
  fileprivate init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// The property that observers track; the value itself is the store's.
  private var value: Void { () }

  /// The version: never 0, so that 0 can stand for "nothing kept yet".
  @usableFromInline package var version: UInt64 {
    @inlinable get { counter.load(ordering: .acquiring) }
  }

  /// Notes that the running observation, if there is one, reads the value.
  @usableFromInline package func track() { registrar.access(self, keyPath: path) }

  /// Outdates what readers keep, and notifies observers.
  ///
  /// Called after the new value can be read, with no lock held. An observer runs on the calling thread and reads the new value.
  fileprivate func send() {
    counter.add(1, ordering: .releasing)
    registrar.willSet(self, keyPath: path)
    registrar.didSet(self, keyPath: path)
  }

  /// Whether no mismatch was reported for this version yet; true once for each version.
  package func mayReport(_ version: UInt64) -> Bool {
    reportedVersion.exchange(version, ordering: .relaxed) != version
  }
}

// MARK: Broadcasting

/// Tells the listeners of a store, and the readers of its keys, which keys changed.
final class ChangeBroadcaster: Sendable {
  private struct Signal: Sendable {
    weak var signal: PreferenceSignal?
  }

  private struct State: Sendable {
    var listeners: [ObjectIdentifier: ChangeListener] = [:]
    var signals: [String: Signal] = [:]
  }

  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)
  private let signalCount = Atomic<Int>(0)

  /// Whether there is a listener.
  var hasListeners: Bool { listenerCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Whether there is a listener, or a reader of a key.
  ///
  /// Asked after a change was made, so that a listener who comes later sees it when it reads.
  var isHeard: Bool { hasListeners || signalCount.load(ordering: .sequentiallyConsistent) > 0 }

  fileprivate func add(_ listener: ChangeListener) {
    state.withLock { state in
      state.listeners[ObjectIdentifier(listener)] = listener
      listenerCount.store(state.listeners.count, ordering: .sequentiallyConsistent)
    }
  }

  fileprivate func remove(_ listener: ObjectIdentifier) {
    // Its last owner may be the table, and what ends with it must not end under the lock.
    let removed = state.withLock { state in
      defer { listenerCount.store(state.listeners.count, ordering: .sequentiallyConsistent) }
      return state.listeners.removeValue(forKey: listener)
    }
    withExtendedLifetime(removed) {}
  }

  /// Returns the signal of the key, which all its readers share.
  func signal(forKey key: String) -> PreferenceSignal {
    state.withLock { state in
      if let signal = state.signals[key]?.signal { return signal }
      let new = PreferenceSignal { [weak self] in self?.forgetSignal(forKey: key) }
      state.signals[key] = Signal(signal: new)
      signalCount.store(state.signals.count, ordering: .sequentiallyConsistent)
      return new
    }
  }

  private func forgetSignal(forKey key: String) {
    // There may be a new one, which must not end under the lock either.
    let successor = state.withLock { state in
      let successor = state.signals[key]?.signal
      if successor == nil { state.signals[key] = nil }
      signalCount.store(state.signals.count, ordering: .sequentiallyConsistent)
      return successor
    }
    withExtendedLifetime(successor) {}
  }

  /// Tells the readers of these keys, the listeners to one of them, and the listeners to all keys.
  func tell(_ keys: Set<String>) {
    guard !keys.isEmpty else { return }
    let (signals, listeners) = state.withLock { state in
      (state.signals.isEmpty ? [] : keys.compactMap { state.signals[$0]?.signal }, Array(state.listeners.values))
    }
    for signal in signals { signal.send() }
    for listener in listeners { listener.hear(keys) }
  }
}

/// A listener: the keys that were not fetched yet, and a bell.
private final class ChangeListener: Sendable {
  /// The key that it listens to; nil if it listens to all.
  private let key: String?
  private let pending = Lock<Set<String>>([])
  private let bell: AsyncStream<Void>.Continuation

  init(key: String?, bell: AsyncStream<Void>.Continuation) { (self.key, self.bell) = (key, bell) }

  func hear(_ keys: Set<String>) {
    if let key, !keys.contains(key) { return }
    pending.withLock { $0.formUnion(keys) }
    bell.yield()
  }

  func fetch() -> Set<String> {
    pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
  }
}

/// Tells the readers of a store's `errors` of those that no caller could be thrown.
final class ErrorBroadcaster: Sendable {
  private struct Listeners: Sendable {
    var continuations: [Int: AsyncStream<PreferenceError>.Continuation] = [:]
    var next = 0
  }

  private let listeners = Lock(Listeners())

  /// A stream of its own for each call; a reader who is more than 64 behind misses the oldest.
  func stream() -> AsyncStream<PreferenceError> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PreferenceError.self, bufferingPolicy: .bufferingNewest(64))
    let number = listeners.withLock { listeners in
      listeners.next += 1
      listeners.continuations[listeners.next] = continuation
      return listeners.next
    }
    continuation.onTermination = { [weak self] _ in
      self?.listeners.withLock { $0.continuations[number] = nil }
    }
    return stream
  }

  func report(_ error: PreferenceError) {
    for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield(error) }
  }
}
