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
