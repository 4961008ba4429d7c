public import Observation
import Support
public import Synchronization

/// An asynchronous sequence of the keys whose values change in a store.
///
/// Each element is the set of keys that changed since the previous element, or since the call of `changes()`. A slow
/// reader gets fewer and larger sets, but misses no key, and reads the latest values from the store. When the reading
/// task is canceled, the sequence ends, and can't be read again.
///
/// ```swift
/// for await keys in store.changes() where keys.contains("volume") {
///   try player.setVolume(store.value(Int.self, forKey: "volume") ?? 5)
/// }
/// ```
///
/// A sequence is for one reader: if it has two iterators, only one of them gets each change. A sequence of a
/// `FilePreferenceStore` keeps the file open, but doesn't retain the store.
public struct PreferenceChanges: AsyncSequence, Sendable {
  private let listener: ChangeListener
  private let stream: AsyncStream<Void>
  private var rename: @Sendable (String) -> String? = { $0 }

  /// Creates the sequence of the changes that `listener` collects; `stream` wakes the reader.
  init(of listener: ChangeListener, _ stream: AsyncStream<Void>) { (self.listener, self.stream) = (listener, stream) }

  /// Returns a copy of this sequence that renames each key, and omits the keys for which `rename` returns nil.
  func renamingKeys(_ rename: @escaping @Sendable (String) -> String?) -> PreferenceChanges {
    var changes = self
    changes.rename = { [old = self.rename] in old($0).flatMap(rename) }
    return changes
  }

  /// Returns an iterator over the changes that no iterator of this sequence has returned yet.
  public func makeAsyncIterator() -> Iterator {
    Iterator(listener: listener, base: stream.makeAsyncIterator(), stream: stream, rename: rename)
  }

  /// An iterator that waits for changes and returns their keys.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let listener: ChangeListener
    fileprivate var base: AsyncStream<Void>.Iterator
    // This property keeps the stream open. A stream ends when its last owner releases it, and the documentation doesn't
    // say whether the stream's iterator, `base`, is an owner.
    fileprivate let stream: AsyncStream<Void>
    fileprivate let rename: @Sendable (String) -> String?

    /// Waits until keys have changed since the last call, and returns these keys; nil if the sequence has ended.
    public mutating func next() async -> Set<String>? { await next(isolation: #isolation) }

    /// Waits until keys have changed since the last call, and returns these keys; nil if the sequence has ended.
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

/// An observable object with a version, which increases when the value of one key changes.
///
/// A store creates one signal for each key that a property uses. The signal lives as long as a property uses it. When
/// the value changes, the store calls ``PreferenceHub/tell(_:)``, which increases the version and notifies observers.
///
/// The version increases only when the new value can already be read. A reader that keeps a value loads the version
/// first, then reads the value, and keeps both. The reader may use the kept value as long as the version stays the
/// same.
public final class PreferenceSignal: Observable, Sendable {
  @usableFromInline let counter = Atomic<UInt64>(1)
  private let registrar = ObservationRegistrar()
  /// The version for which a read error was last reported.
  private let reportedVersion = Atomic<UInt64>(0)
  /// The key path of `value`, kept in a property because a key path literal would be retained at each read.
  private let path: any KeyPath<PreferenceSignal, Void> & Sendable = \PreferenceSignal.value
  private let onEnd: @Sendable () -> Void

  /// Creates a signal that calls `onEnd` when it is deinitialized.
  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// A placeholder that observers track in place of the key's value, which the store keeps.
  private var value: Void { () }

  /// The version of the value, which is never 0.
  ///
  /// A reader that has no kept value uses 0 as its version, so that no signal's version is equal to it.
  @usableFromInline package var version: UInt64 { @inlinable get { counter.load(ordering: .acquiring) } }

  /// Registers a read of the value with the active observation tracking, if there is any.
  @usableFromInline package func track() { registrar.access(self, keyPath: path) }

  /// Notifies observers on the calling thread.
  ///
  /// The caller must first increase `counter`, and must hold no lock.
  func notifyObservers() {
    registrar.willSet(self, keyPath: path)
    registrar.didSet(self, keyPath: path)
  }

  /// Returns whether to report that the value of this version can't be read.
  ///
  /// The result is false if the previous call had the same version, so that an error isn't reported at every read.
  package func mayReport(_ version: UInt64) -> Bool { reportedVersion.exchange(version, ordering: .relaxed) != version }
}

// MARK: Listeners

/// A listener that collects changed keys until its reader fetches them, and wakes the reader through a stream.
final class ChangeListener: Sendable {
  /// The only key whose changes the listener collects; nil for all keys.
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
