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
  private var rename: @Sendable (String) -> String? = { $0 }

  /// Creates the changes that a listener is told.
  init(of listener: ChangeListener, _ stream: AsyncStream<Void>) { (self.listener, self.stream) = (listener, stream) }

  /// Returns the same changes with other keys, for a store that keeps its values in another one.
  func renamingKeys(_ rename: @escaping @Sendable (String) -> String?) -> PreferenceChanges {
    var changes = self
    changes.rename = { [old = self.rename] in old($0).flatMap(rename) }
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
    fileprivate let rename: @Sendable (String) -> String?

    /// Returns the keys that changed since the last call; nil when the task was cancelled.
    public mutating func next() async -> Set<String>? { await next(isolation: #isolation) }

    /// Returns the keys that changed since the last call; nil when the task was cancelled.
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
  /// The key path of the value, kept here since one that is written in place is retained by each read.
  private let path: any KeyPath<PreferenceSignal, Void> & Sendable = \PreferenceSignal.value
  private let onEnd: @Sendable () -> Void

  /// Creates the signal of a key, which calls `onEnd` when the last reader is gone.
  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// The property that observers track; the value itself is the store's.
  private var value: Void { () }

  /// The version: never 0, so that 0 can stand for "nothing kept yet".
  @usableFromInline package var version: UInt64 { @inlinable get { counter.load(ordering: .acquiring) } }

  /// Notes that the running observation, if there is one, reads the value.
  @usableFromInline package func track() { registrar.access(self, keyPath: path) }

  /// Outdates what readers keep, and notifies observers on the calling thread, with no lock held.
  func send() {
    counter.add(1, ordering: .releasing)
    registrar.willSet(self, keyPath: path)
    registrar.didSet(self, keyPath: path)
  }

  /// Whether no mismatch was reported for this version yet; true once for each version.
  package func mayReport(_ version: UInt64) -> Bool { reportedVersion.exchange(version, ordering: .relaxed) != version }
}

// MARK: Listeners

/// A listener: the keys that it hasn't fetched yet, and a bell.
final class ChangeListener: Sendable {
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
