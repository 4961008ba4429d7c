internal import Locking
internal import SpellRegistry
internal import Synchronization

/// The attempt of a step that a task is running, known to all that it calls: how a launch tells that it is called from
/// itself, and who made a service.
final class StepContext: Sendable {
  @TaskLocal static var current: StepContext?

  let id: String
  private let sequence: ObjectIdentifier
  private let outer: StepContext?
  private let isOver = Atomic(false)

  private struct Services {
    var isWanted = true
    /// Each withdraws one.
    var withdrawals: [@Sendable () -> Void] = []
  }
  private let services = Lock(Services())

  /// - Parameter outer: The step that the launch was called from; not the one that happens to begin this one, or a
  ///   chain of steps would hold each other.
  init(_ id: String, of sequence: ObjectIdentifier, in outer: StepContext?) {
    self.id = id
    self.sequence = sequence
    self.outer = outer
  }

  /// Tells tasks that the step left behind that they no longer are in it.
  func end() { isOver.store(true, ordering: .releasing) }

  /// The step of that sequence that the caller is inside of; nil where it is in none.
  static func step(of sequence: LaunchSequence) -> StepContext? {
    let wanted = ObjectIdentifier(sequence)
    var context = current
    while let inner = context {
      if inner.sequence == wanted, !inner.isOver.load(ordering: .acquiring) { return inner }
      context = inner.outer
    }
    return nil
  }
}

// MARK: Services

extension StepContext {
  /// Nobody waits for the attempt any more: it registers nothing from now on.
  func giveUp() { services.withLock { $0.isWanted = false } }

  var hasServices: Bool { services.withLock { !$0.withdrawals.isEmpty } }

  /// Registers a service until it is withdrawn; not where the attempt was given up.
  func register<Service: Sendable>(_ service: Service) {
    guard services.withLock(\.isWanted) else { return }
    let registration = InitializerRegistry.current.register(instance: service)
    let isWanted = services.withLock { services in
      if services.isWanted { services.withdrawals.append { registration.unregister() } }
      return services.isWanted
    }
    if !isWanted { registration.unregister() }
  }

  /// Takes from the registry what the attempt registered, the last first.
  func withdrawServices() {
    let withdrawals = services.withLock { services in
      defer { services.withdrawals = [] }
      return services.withdrawals
    }
    for withdraw in withdrawals.reversed() { withdraw() }
  }
}
