internal import Support
internal import Synchronization

/// Hooks that are called in the order in which they were added.
struct Hooks: ~Copyable, Sendable {
  typealias Hook = @Sendable (Any, InjectionPoint) -> Void
  private let hooks = Lock<[Hook]>([])
  private let isUsed = Atomic(false)

  /// Whether there is any; saves the lock if there is none.
  ///
  /// Relaxed: a thread that has synchronized with the one that added a hook sees it, as with any other value.
  var areUsed: Bool { isUsed.load(ordering: .relaxed) }

  func add(_ hook: @escaping Hook) {
    hooks.withLock { $0.append(hook) }
    isUsed.store(true, ordering: .relaxed)
  }

  /// Calls every hook, making an `Any` of the value only if there is one.
  func callAll<Value>(_ value: Value, at point: @autoclosure () -> InjectionPoint) {
    if areUsed { call(value, at: point()) }
  }

  /// Calls every hook, with no lock held; none while they run already, further out on this thread.
  ///
  /// A hook that resolves what it hears of would otherwise call itself until the stack is full.
  private func call(_ value: Any, at point: InjectionPoint) {
    let hooks = hooks.withLock { $0 }
    let thread = ThreadState.current
    // Which hooks: an address, compared and never followed.
    let identity = withUnsafePointer(to: self) { UInt(bitPattern: $0) }
    if thread.runningHooks.contains(identity) { return }
    thread.runningHooks.append(identity)
    defer { thread.runningHooks.removeLast() }
    for hook in hooks { hook(value, point) }
  }
}
