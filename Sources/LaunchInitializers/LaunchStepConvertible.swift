/// A type that can be listed as a step of a ``LaunchSequence``: an ``Initializable``, a ``LaunchGroup`` or a
/// ``LaunchStep``.
///
/// Modifiers describe the step, and each modifier returns a changed copy of the step:
///
/// ```swift
/// DatabaseInitializer().id("db").after("logging").timeout(.seconds(5))
/// ```
public protocol LaunchStepConvertible {
  /// This value as a step of a sequence.
  var launchStep: LaunchStep { get }
}

extension LaunchStepConvertible {
  /// Sets the ID with which other steps and the report refer to the step.
  ///
  /// The default is the name of the initializer's type. No other step or group of the sequence may have the same ID.
  public func id(_ id: String) -> LaunchStep { launchStep.with { $0.id = id } }

  /// Makes the step wait only for the given steps or groups, and run even if they fail or are skipped.
  ///
  /// Several calls add up. A call without IDs keeps the step from waiting for the previous step in the list. The given
  /// steps may be listed after this step.
  public func after(_ ids: String...) -> LaunchStep { refer(to: ids, .after) }

  /// Makes the step wait for other steps or groups, and run only if all of them complete.
  ///
  /// If a required step or group fails or is skipped, this step is skipped, and the report says why.
  public func requires(_ ids: String...) -> LaunchStep { refer(to: ids, .requires) }

  /// Makes the given steps or groups wait for this step.
  ///
  /// As with ``after(_:)``, this step doesn't wait for the previous step in the list.
  public func before(_ ids: String...) -> LaunchStep { refer(to: ids, .before) }

  private func refer(to ids: [String], _ relation: StepReference.Relation) -> LaunchStep {
    launchStep.with { declared in
      declared.references += ids.map { StepReference(id: $0, relation: relation) }
      declared.declaresOrder = true
    }
  }

  /// Runs the step only in the given release stages; in other stages, the step is reported as skipped.
  public func only(in stages: ReleaseStage...) -> LaunchStep { launchStep.with { $0.stages = Set(stages) } }

  /// Runs the step after the launch has completed, so that ``LaunchSequence/launch()`` doesn't wait for it.
  ///
  /// A deferred step that fails doesn't abort the launch, but ``LaunchSequence/report`` and ``LaunchSequence/events``
  /// show the failure. Steps that wait for a deferred step have to be deferred as well.
  public func deferred() -> LaunchStep { launchStep.with { $0.isDeferred = true } }

  /// Sets what the launch does when the step fails; by default, the launch aborts.
  ///
  /// The step of a ``ReadyInitializer`` also fails if its service throws, returns, or exceeds the timeout before the
  /// service is ready. In this case, a retry only runs the service again. If no retry is left, ``onExit(_:)`` may
  /// restart the service or go on without it.
  ///
  /// A second call adds to the first call: `.onFailure(.retry(2, after: .zero)).onFailure(.skip)` retries, then skips.
  ///
  /// - Precondition: The number of retries, if any, is at least 1. No pause is negative, the limit of growing pauses is
  ///   at least the first pause, and the jitter is from 0 to 1.
  public func onFailure(_ policy: FailurePolicy) -> LaunchStep {
    if let mistake = policy.mistake { fatalError("\(launchStep): \(mistake)") }
    return launchStep.with { $0.policy = $0.policy.adding(policy) }
  }

  /// Limits the time of each attempt of the step, on the sequence's clock; an attempt that takes longer is canceled.
  ///
  /// If a canceled attempt still completes within the sequence's grace period, the step counts as completed, and the
  /// report has a note about the timeout. An attempt that gets no thread within its limit fails without running, and
  /// may be retried. An attempt that has begun and doesn't end within the grace period is abandoned: the step fails and
  /// isn't retried. If an abandoned attempt of the launch completes later, what it set up is shut down immediately. A
  /// shutdown of the sequence shuts down the steps that this step waited for only afterward, unless their shutdown has
  /// already begun. Each time the service of a ``ReadyInitializer`` starts, the limit also applies to the time until
  /// the service is ready. On the system's clocks, the time passes even while steps block every thread of the
  /// concurrency pool.
  ///
  /// - Precondition: The duration is more than zero.
  public func timeout(_ duration: Duration) -> LaunchStep {
    if duration <= .zero { fatalError("\(launchStep) can't be done in \(duration). Use more than zero.") }
    return launchStep.with { $0.timeout = duration }
  }

  /// Limits the time of the step's shutdown, on the sequence's clock; a shutdown that takes longer is canceled.
  ///
  /// A canceled shutdown that doesn't end within the cancellation grace period is abandoned. The limit applies to the
  /// time that a service takes to end, and separately to ``Initializable/shutDown()``. If a service that implements
  /// ``RunningInitializer/stop()`` takes longer, the service is canceled, and the report shows its step as failed.
  /// Without this modifier, the limit is the step's `.timeout`, or ten seconds if the step has no timeout.
  ///
  /// - Precondition: The duration is more than zero.
  public func stopTimeout(_ duration: Duration) -> LaunchStep {
    if duration <= .zero { fatalError("\(launchStep) can't be shut down in \(duration). Use more than zero.") }
    return launchStep.with { $0.stopTimeout = duration }
  }

  /// Sets a closure that undoes what the step did before it failed.
  ///
  /// The closure is called after each attempt that threw an error, before the step is retried or reported as failed.
  /// The closure isn't canceled with the attempt, and has the same time limit as the step's shutdown. For an attempt
  /// that was abandoned and threw later, the limit is the step's `.stopTimeout`, or ten seconds. If the closure throws,
  /// the report shows the attempt's error and the closure's error.
  ///
  /// - Precondition: The step isn't a group.
  public func onRollback(_ rollback: @escaping @Sendable () async throws -> Void) -> LaunchStep {
    let step = launchStep
    if step.declared.members != nil {
      fatalError(".onRollback is for a step, and \(step) is a group. Add it to the steps that need it.")
    }
    return step.with { $0.rollback = rollback }
  }

  /// Sets what the sequence does when the step's service ends by itself; by default, the sequence shuts down.
  ///
  /// A restarted service that isn't ready within the step's timeout is canceled, as if it had ended with an error.
  ///
  /// - Precondition: The step has a service. The number of restarts, if any, is at least 1, and the duration within
  ///   which restarts are counted is more than zero. No pause is negative, the limit of growing pauses is at least the
  ///   first pause, and the jitter is from 0 to 1.
  public func onExit(_ policy: ExitPolicy) -> LaunchStep {
    let step = launchStep
    if let mistake = policy.mistake { fatalError("\(step): \(mistake)") }
    if !step.declared.work.runs {
      fatalError(".onExit is for a RunningInitializer, and \(step) isn't one. Remove it, or add run(_:).")
    }
    return step.with { $0.exitPolicy = policy }
  }
}
