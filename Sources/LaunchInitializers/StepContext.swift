internal import SpellRegistry

/// The job that the current task works on, as a task-local value.
///
/// A sequence uses this context to detect calls from its own steps, and to register a service for the attempt that
/// created the service.
final class StepContext: Sendable {
  @TaskLocal static var current: StepContext?

  let sequence: LaunchSequence
  let job: LaunchMachine.Job
  /// The context of the step that launched `sequence`; nil if `sequence` wasn't launched by a step of another sequence.
  fileprivate let outer: StepContext?

  init(_ sequence: LaunchSequence, _ job: LaunchMachine.Job, in outer: StepContext?) {
    (self.sequence, self.job, self.outer) = (sequence, job, outer)
  }

  /// Keeps a service for the current attempt, and registers it unless the attempt was abandoned.
  ///
  /// If the current task isn't part of a launch sequence, the service is registered permanently.
  static func keep<Maker: ServiceInitializer>(_ service: Maker.Service, of maker: Maker) {
    guard let current else { return _ = InitializerRegistry.current.register(.instance(service)) }
    let key = current.sequence.plan.declared(current.job.step).key
    current.sequence.keep(MadeService(service, of: maker, for: key), by: current.job)
  }

  /// Cancels the task of the service that the current job is stopping.
  static func cancelService() { if let current { current.sequence.handle(.cannotStop(current.job)) } }
}

extension LaunchSequence {
  /// The ID of the step whose job makes the current call; nil if the call doesn't come from a step of this sequence.
  ///
  /// The value is also nil if the job has ended or was abandoned. If a step of this sequence launched another sequence,
  /// a call from a step of that other sequence counts as a call from the step that launched it.
  var callingStep: String? {
    var context = StepContext.current
    while let inner = context {
      if inner.sequence === self, isUnderWay(inner.job) { return plan.nodes[inner.job.step].id }
      context = inner.outer
    }
    return nil
  }
}
