import Support
import Synchronization

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
  func add(_ listener: ChangeListener, to key: String?) {
    listeners.withLock {
      $0[key][ObjectIdentifier(listener)] = listener
      $0.count += 1
      listenerCount.store($0.count, ordering: .sequentiallyConsistent)
    }
  }

  func remove(_ listener: ObjectIdentifier, from key: String?) {
    // Its last owner may be the table, and what ends with it shall not end under the lock.
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
    // There may be a new one, which shall not end under the lock either.
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
