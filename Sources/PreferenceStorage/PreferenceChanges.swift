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
    let listener = ChangeListener(bell: bell)
    self.stream = stream
    self.listener = listener
    let identifier = ObjectIdentifier(listener)
    bell.onTermination = { [broadcaster] _ in
      broadcaster.remove(identifier, from: key)
      onEnd()
    }
    broadcaster.add(listener, to: key)
  }

  /// Returns the same changes with other keys, for a store that keeps its values in another one.
  ///
  /// - Parameter rename: Returns the key that a key of this store has in the other one, or nil if it has none there.
  public func renamingKeys(_ rename: @escaping @Sendable (String) -> String?) -> PreferenceChanges {
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
  /// What the registrar knows the value by.
  ///
  /// Kept here, since a key path that is written in place is retained by each read.
  private let path: any KeyPath<PreferenceSignal, Void> & Sendable = \PreferenceSignal.value
  private let onEnd: @Sendable () -> Void

  /// Creates the signal of a key.
  ///
  /// - Parameter onEnd: Called when the last reader is gone.
  fileprivate init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// What observers track; the value itself is the store's.
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

  private struct Listeners: Sendable {
    typealias Table = [ObjectIdentifier: ChangeListener]
    var toAll: Table = [:]
    var toKey: [String: Table] = [:]
    var count = 0
    var signals: [String: Signal] = [:]

    subscript(key: String?) -> Table {
      get { if let key { toKey[key] ?? [:] } else { toAll } }
      _modify {
        if let key {
          yield &toKey[key, default: [:]]
          if toKey[key]?.isEmpty == true { toKey[key] = nil }
        } else {
          yield &toAll
        }
      }
    }
  }

  private let listeners = Lock(Listeners())
  private let listenerCount = Atomic<Int>(0)
  private let signalCount = Atomic<Int>(0)

  /// Whether there is a listener.
  var hasListeners: Bool { listenerCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Whether there is a listener, or a reader of a key.
  ///
  /// Asked after a change was made, so that a listener who comes later sees it when it reads.
  var isHeard: Bool { hasListeners || signalCount.load(ordering: .sequentiallyConsistent) > 0 }

  /// Adds a listener to the changes of one key, or of all.
  fileprivate func add(_ listener: ChangeListener, to key: String?) {
    listeners.withLock {
      $0[key][ObjectIdentifier(listener)] = listener
      $0.count += 1
      listenerCount.store($0.count, ordering: .sequentiallyConsistent)
    }
  }

  fileprivate func remove(_ listener: ObjectIdentifier, from key: String?) {
    // Its last owner may be the table, and what ends with it must not end under the lock.
    let removed = listeners.withLock { listeners in
      let removed = listeners[key].removeValue(forKey: listener)
      if removed != nil { listeners.count -= 1 }
      listenerCount.store(listeners.count, ordering: .sequentiallyConsistent)
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Returns the signal of the key, which all its readers share.
  func signal(forKey key: String) -> PreferenceSignal {
    listeners.withLock { listeners in
      if let signal = listeners.signals[key]?.signal { return signal }
      let new = PreferenceSignal { [weak self] in self?.forgetSignal(forKey: key) }
      listeners.signals[key] = Signal(signal: new)
      signalCount.store(listeners.signals.count, ordering: .sequentiallyConsistent)
      return new
    }
  }

  private func forgetSignal(forKey key: String) {
    // There may be a new one, which must not end under the lock either.
    let successor = listeners.withLock { listeners in
      let successor = listeners.signals[key]?.signal
      if successor == nil { listeners.signals[key] = nil }
      signalCount.store(listeners.signals.count, ordering: .sequentiallyConsistent)
      return successor
    }
    withExtendedLifetime(successor) {}
  }

  /// Tells the readers of these keys, the listeners to one of them, and the listeners to all keys.
  func tell(_ keys: Set<String>) {
    guard !keys.isEmpty else { return }
    let (signals, toAll, toKeys) = listeners.withLock { listeners in
      let signals = listeners.signals.isEmpty ? [] : keys.compactMap { listeners.signals[$0]?.signal }
      let toKeys = listeners.toKey.isEmpty ? [] : keys.flatMap { listeners[$0].values }
      return (signals, Array(listeners.toAll.values), toKeys)
    }
    for signal in signals { signal.send() }
    for listener in toAll + toKeys { listener.hear(keys) }
  }
}

/// A listener: the keys that were not fetched yet, and a bell.
private final class ChangeListener: Sendable {
  private let pending = Lock<Set<String>>([])
  private let bell: AsyncStream<Void>.Continuation

  init(bell: AsyncStream<Void>.Continuation) { self.bell = bell }

  func hear(_ keys: Set<String>) {
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
