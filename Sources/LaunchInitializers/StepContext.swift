internal import SpellRegistry

/// The job that a task belongs to, task-local while it is under way.
///
/// A launch so finds that one of its own steps calls it, and a service the attempt that it belongs to.
final class StepContext: Sendable {
  @TaskLocal static var current: StepContext?

  let sequence: LaunchSequence
  let job: LaunchMachine.Job
  /// The step that called for the launch, of another sequence.
  fileprivate let outer: StepContext?

  init(_ sequence: LaunchSequence, _ job: LaunchMachine.Job, in outer: StepContext?) {
    (self.sequence, self.job, self.outer) = (sequence, job, outer)
  }

  /// Registers a service for the attempt that created it, which may have been abandoned; without one, for good.
  static func register(_ service: some Sendable) {
    guard let current else { return _ = InitializerRegistry.current.register(instance: service) }
    current.sequence.register(service, by: current.job)
  }

  /// Cancels the service that the current job is to stop.
  static func cancelService() { if let current { current.sequence.handle(.cannotStop(current.job)) } }
}

extension LaunchSequence {
  /// The id of the step of this sequence that calls; nil if none does.
  var callingStep: String? {
    var context = StepContext.current
    while let inner = context {
      if inner.sequence === self, isUnderWay(inner.job) { return plan.nodes[inner.job.step].id }
      context = inner.outer
    }
    return nil
  }
}
