public import Observation
import Support
public import Synchronization

/// An asynchronous sequence of the changes of a store: each element is the set of keys that changed since the last one.
///
/// The first element has the changes since the call of `changes()`. A slow reader gets fewer and larger sets, but loses
/// no change, and reads the latest values from the store. The sequence ends when its task is canceled.
///
/// ```swift
/// for await keys in store.changes() where keys.contains("volume") {
///   try player.setVolume(store.value(Int.self, forKey: "volume") ?? 5)
/// }
/// ```
///
/// A sequence is for one reader: two iterators share its elements. It retains the store's file, but not the store.
public struct PreferenceChanges: AsyncSequence, Sendable {
  private let listener: ChangeListener
  private let stream: AsyncStream<Void>
  private var rename: @Sendable (String) -> String? = { $0 }

  /// Creates the sequence of the changes that a listener collects.
  init(of listener: ChangeListener, _ stream: AsyncStream<Void>) { (self.listener, self.stream) = (listener, stream) }

  /// Returns the same changes with renamed keys, without the keys that `rename` maps to nil.
  func renamingKeys(_ rename: @escaping @Sendable (String) -> String?) -> PreferenceChanges {
    var changes = self
    changes.rename = { [old = self.rename] in old($0).flatMap(rename) }
    return changes
  }

  /// Returns an iterator over the changes since `changes()` was called, or since the last element that was read.
  public func makeAsyncIterator() -> Iterator {
    Iterator(listener: listener, base: stream.makeAsyncIterator(), stream: stream, rename: rename)
  }

  /// An iterator that waits for changes and returns their keys.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let listener: ChangeListener
    fileprivate var base: AsyncStream<Void>.Iterator
    // Retains the stream, which ends when its last owner releases it.
    fileprivate let stream: AsyncStream<Void>
    fileprivate let rename: @Sendable (String) -> String?

    /// Waits for a change, and returns the keys that changed since the last call; nil if the task is canceled.
    public mutating func next() async -> Set<String>? { await next(isolation: #isolation) }

    /// Waits for a change, and returns the keys that changed since the last call; nil if the task is canceled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Set<String>? {
      while true {
        let keys = Set(listener.fetch().compactMap(rename))
        if !keys.isEmpty { return keys }
        guard await base.next(isolation: actor) != nil else { return nil }
      }
    }
  }
}

// MARK: Signals

/// The signal that tells readers of changes to one key's value: a version to compare, and an object to observe.
///
/// A store creates one signal for each key that a property reads, and drops it with the last property that uses it.
/// When a value changes, the store sends the signal by ``PreferenceHub/tell(_:)``.
///
/// The version increases once a new value can be read. A reader that keeps a value loads the version first, then reads
/// the value, and keeps both: as long as the version stays the same, so does the value.
public final class PreferenceSignal: Observable, Sendable {
  @usableFromInline let counter = Atomic<UInt64>(1)
  private let registrar = ObservationRegistrar()
  /// The version for which a read error was last reported.
  private let reportedVersion = Atomic<UInt64>(0)
  /// The key path of the value, stored here because a key path literal would be retained by each read.
  private let path: any KeyPath<PreferenceSignal, Void> & Sendable = \PreferenceSignal.value
  private let onEnd: @Sendable () -> Void

  /// Creates the signal of a key, which calls `onEnd` when its last reader releases it.
  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// A stand-in for the value, which observers track; the store has the value itself.
  private var value: Void { () }

  /// The version of the value; never 0, so that 0 can mean that a reader keeps no value yet.
  @usableFromInline package var version: UInt64 { @inlinable get { counter.load(ordering: .acquiring) } }

  /// Tells the running observation, if there is one, that the value is being read.
  @usableFromInline package func track() { registrar.access(self, keyPath: path) }

  /// Notifies observers on the calling thread, with no lock held, after `counter` has been increased.
  func notifyObservers() {
    registrar.willSet(self, keyPath: path)
    registrar.didSet(self, keyPath: path)
  }

  /// Returns whether a read error of this version may be reported: true only for the first call with each version.
  package func mayReport(_ version: UInt64) -> Bool { reportedVersion.exchange(version, ordering: .relaxed) != version }
}

// MARK: Listeners

/// A listener to changes: the keys that it hasn't fetched yet, and a stream that wakes its reader.
final class ChangeListener: Sendable {
  /// The key that the listener is limited to; nil for all keys.
  private let key: String?
  private let pending = Lock<Set<String>>([])
  private let bell: AsyncStream<Void>.Continuation

  init(key: String?, bell: AsyncStream<Void>.Continuation) { (self.key, self.bell) = (key, bell) }

  func hear(_ keys: Set<String>) {
    if let key, !keys.contains(key) { return }
    pending.withLock { pending in if let key { pending.insert(key) } else { pending.formUnion(keys) } }
    bell.yield()
  }

  func fetch() -> Set<String> {
    pending.withLock { pending in
      defer { pending = [] }
      return pending
    }
  }
}
