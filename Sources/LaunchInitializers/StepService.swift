internal import SpellRegistry
internal import Support

/// A service that an attempt of a step registered.
protocol StepService: AnyObject, Sendable {
  var job: LaunchMachine.Job { get }

  /// Unregisters the service.
  func withdraw()

  /// Registers the service again if `other` is registered, and has the same type and registry.
  ///
  /// The service replaces `other` at once, so that no request finds neither of them.
  ///
  /// - Returns: Whether `other` has the same type and registry.
  func takeOver(from other: any StepService) -> Bool
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

  func takeOver(from other: any StepService) -> Bool {
    guard let other = other as? RegisteredService, other.registry === registry else { return false }
    let record = other.state.withLock(\.registration.record)
    guard registry.registrations.contains(where: { $0 === record }) else { return true }
    let registration = registry.register(.instance(value))
    let isWithdrawn = state.withLock { state in
      state.registration = registration
      return state.isWithdrawn
    }
    // The sequence may have withdrawn the service on another thread in the meantime.
    if isWithdrawn { registration.unregister() }
    return true
  }
}
