import Locking
import Synchronization

/// Tells everyone who listens to a store which keys changed.
final class ChangeHub: Sendable {
  private let listeners = Lock<[ObjectIdentifier: ChangeListener]>([:])
  private let count = Atomic<Int>(0)

  /// Whether anyone listens.
  ///
  /// Asked after a change was made, so that a listener who comes later sees it when it reads.
  var isHeard: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  func add(_ listener: ChangeListener) {
    listeners.withLock {
      $0[ObjectIdentifier(listener)] = listener
      count.store($0.count, ordering: .sequentiallyConsistent)
    }
  }

  func remove(_ listener: ObjectIdentifier) {
    // Its last owner may be the table, and what ends with it shall not end under the lock.
    let removed = listeners.withLock { listeners in
      defer { count.store(listeners.count, ordering: .sequentiallyConsistent) }
      return listeners.removeValue(forKey: listener)
    }
    withExtendedLifetime(removed) {}
  }

  func tell(_ keys: Set<String>) {
    guard !keys.isEmpty else { return }
    for listener in listeners.withLock({ Array($0.values) }) { listener.hear(keys) }
  }
}

/// Someone who listens: the keys that were not fetched yet, and a bell.
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
