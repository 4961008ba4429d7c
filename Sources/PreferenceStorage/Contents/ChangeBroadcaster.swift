import Support
import Synchronization

/// Tells the listeners of a store which keys changed.
final class ChangeBroadcaster: Sendable {
  private struct Listeners: Sendable {
    typealias Table = [ObjectIdentifier: ChangeListener]
    var toAll: Table = [:]
    var toKey: [String: Table] = [:]
    var count = 0

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
  private let count = Atomic<Int>(0)

  /// Whether there is a listener.
  ///
  /// Asked after a change was made, so that a listener who comes later sees it when it reads.
  var isHeard: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Adds a listener to the changes of one key, or of all.
  func add(_ listener: ChangeListener, to key: String?) {
    listeners.withLock {
      $0[key][ObjectIdentifier(listener)] = listener
      $0.count += 1
      count.store($0.count, ordering: .sequentiallyConsistent)
    }
  }

  func remove(_ listener: ObjectIdentifier, from key: String?) {
    // Its last owner may be the table, and what ends with it shall not end under the lock.
    let removed = listeners.withLock { listeners in
      let removed = listeners[key].removeValue(forKey: listener)
      if removed != nil { listeners.count -= 1 }
      count.store(listeners.count, ordering: .sequentiallyConsistent)
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// Tells the listeners to all keys, and those to one of these, which are found by their keys.
  func tell(_ keys: Set<String>) {
    guard !keys.isEmpty else { return }
    let (toAll, toKeys) = listeners.withLock { listeners in
      let toKeys = listeners.toKey.isEmpty ? [] : keys.flatMap { listeners[$0].values }
      return (Array(listeners.toAll.values), toKeys)
    }
    for listener in toAll + toKeys { listener.hear(keys) }
  }
}

/// A listener: the keys that were not fetched yet, and a bell.
final class ChangeListener: Sendable {
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
