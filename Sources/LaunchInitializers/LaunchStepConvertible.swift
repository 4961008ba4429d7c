/// A type that can be listed as a step of a ``LaunchSequence``: an ``Initializable``, a ``LaunchGroup`` or a
/// ``LaunchStep``.
///
/// Its modifiers describe the step. Each returns a changed copy:
///
/// ```swift
/// DatabaseInitializer().id("db").after("logging").timeout(.seconds(5))
/// ```
public protocol LaunchStepConvertible {
  /// The step.
  var launchStep: LaunchStep { get }
}

extension LaunchStepConvertible {
  /// Names the step, for references and the report; without an id, it has the name of its type.
  ///
  /// No other step and no group of the sequence may have the same id.
  public func id(_ id: String) -> LaunchStep { launchStep.with { $0.id = id } }

  /// Makes the step wait for other steps or groups, even if they fail or are skipped, and for nothing else.
  ///
  /// Several calls add up. Without an id, the step waits for nothing. The other steps may be listed later.
  public func after(_ ids: String...) -> LaunchStep { refer(to: ids, .after) }

  /// Makes the step wait for other steps or groups, and run only if all of them complete.
  ///
  /// If one of them fails or is skipped, this step is skipped, and the report says why.
  public func requires(_ ids: String...) -> LaunchStep { refer(to: ids, .requires) }

  /// Makes other steps or groups wait for this step, which itself waits only for what it declares.
  public func before(_ ids: String...) -> LaunchStep { refer(to: ids, .before) }

  private func refer(to ids: [String], _ relation: StepReference.Relation) -> LaunchStep {
    launchStep.with { declared in
      declared.references += ids.map { StepReference(id: $0, relation: relation) }
      declared.declaresOrder = true
    }
  }

  /// Runs the step in some stages of the configuration only; in others, it is reported as skipped.
  public func only(in stages: ReleaseStage...) -> LaunchStep { launchStep.with { $0.stages = Set(stages) } }

  /// Runs the step after ``LaunchSequence/launch()`` has returned: for what a program needs, but not at once.
  ///
  /// A deferred step that fails aborts nothing; ``LaunchSequence/report`` and ``LaunchSequence/events`` have it. Steps
  /// that wait for it have to be deferred too.
  public func deferred() -> LaunchStep { launchStep.with { $0.isDeferred = true } }

  /// Sets what the launch does when the step fails; without this modifier, it aborts.
  ///
  /// A second call adds to the first: `.onFailure(.retry(2, after: .zero)).onFailure(.skip)` retries, then skips.
  ///
  /// - Precondition: A number of retries is at least 1, and their pause isn't negative.
  public func onFailure(_ policy: FailurePolicy) -> LaunchStep {
    if let mistake = policy.mistake { fatalError("\(launchStep): \(mistake)") }
    return launchStep.with { $0.policy = $0.policy.adding(policy) }
  }

  /// Limits how long one attempt of the step may take, on the sequence's clock; the attempt is then cancelled.
  ///
  /// If the attempt completes within the sequence's cancellation grace period, the step counts as completed, with a note.
  /// If it goes on for longer, it is abandoned: the step has failed and isn't retried, and what the attempt completes later
  /// is shut down. A ``ReadyInitializer`` has the same time again to become ready. On the system's clocks, the time passes
  /// even while steps block every thread of the concurrency pool.
  ///
  /// - Precondition: The duration is more than zero.
  public func timeout(_ duration: Duration) -> LaunchStep {
    if duration <= .zero { fatalError("\(launchStep) can't be done in \(duration). Use more than zero.") }
    return launchStep.with { $0.timeout = duration }
  }

  /// Limits how long the shut-down of the step may take, on the sequence's clock; it is then cancelled and, after the
  /// cancellation grace period, left behind.
  ///
  /// A service has this time to end, and ``Initializable/shutDown()`` has it once more. Without this modifier, the limit
  /// is the step's `.timeout`, or ten seconds.
  ///
  /// - Precondition: The duration is more than zero.
  public func stopTimeout(_ duration: Duration) -> LaunchStep {
    if duration <= .zero { fatalError("\(launchStep) can't be shut down in \(duration). Use more than zero.") }
    return launchStep.with { $0.stopTimeout = duration }
  }

  /// Undoes what the step did before it failed halfway.
  ///
  /// Called after each attempt that threw an error, before what follows, in a task that isn't cancelled with the attempt
  /// and may take as long as a shut-down. An error that it throws is reported beside the step's.
  ///
  /// - Precondition: The step isn't a group.
  public func onRollback(_ rollback: @escaping @Sendable () async throws -> Void) -> LaunchStep {
    let step = launchStep
    if step.declared.members != nil {
      fatalError(".onRollback is for a step, and \(step) is a group. Add it to the steps that need it.")
    }
    return step.with { $0.rollback = rollback }
  }

  /// Sets what the sequence does when the step's service ends by itself; without this modifier, it shuts down.
  ///
  /// - Precondition: The step has a service; a number of restarts is at least 1.
  public func onExit(_ policy: ExitPolicy) -> LaunchStep {
    let step = launchStep
    if let mistake = policy.mistake { fatalError("\(step): \(mistake)") }
    if !step.declared.work.runs {
      fatalError(".onExit is for a RunningInitializer, and \(step) isn't one. Remove it, or add run(_:).")
    }
    return step.with { $0.exitPolicy = policy }
  }
}
