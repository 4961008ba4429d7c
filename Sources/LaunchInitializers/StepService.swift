internal import SpellRegistry

/// A service that an attempt of a step registered.
final class StepService: Sendable {
  let job: LaunchMachine.Job
  /// Unregisters the service.
  let withdraw: @Sendable () -> Void

  /// Registers a service in the current registry.
  init(_ service: some Sendable, by job: LaunchMachine.Job) {
    self.job = job
    let registration = InitializerRegistry.current.register(.instance(service))
    withdraw = { registration.unregister() }
  }
}
