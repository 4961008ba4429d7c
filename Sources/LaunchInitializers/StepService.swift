internal import SpellRegistry
internal import Support

/// A service that an attempt of a step registered.
protocol StepService: AnyObject, Sendable {
  var job: LaunchMachine.Job { get }

  /// Unregisters the service.
  func withdraw()

  /// Registers the service again, unless it is withdrawn or its type already has a registration without a name.
  func restore()
}

final class RegisteredService<Value: Sendable>: StepService {
  let job: LaunchMachine.Job
  private let value: Value
  private let registry: InitializerRegistry
  private let state: Lock<(registration: Registration<Value>, isWithdrawn: Bool)>

  /// Registers a service in the current registry.
  init(_ value: Value, by job: LaunchMachine.Job) {
    (self.job, self.value, registry) = (job, value, .current)
    state = Lock((registry.register(.instance(value)), false))
  }

  func withdraw() {
    let registration = state.withLock { state in
      state.isWithdrawn = true
      return state.registration
    }
    registration.unregister()
  }

  func restore() {
    let service = state.withLock(\.registration.record.service)
    if registry.registrations.contains(where: { $0.service == service && $0.name == nil }) { return }
    let registration = registry.register(.instance(value))
    let isWithdrawn = state.withLock { state in
      state.registration = registration
      return state.isWithdrawn
    }
    // The sequence may have withdrawn the service on another thread in the meantime.
    if isWithdrawn { registration.unregister() }
  }
}
