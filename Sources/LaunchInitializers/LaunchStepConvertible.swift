/// A type that can be listed as a step of a ``LaunchSequence``: an ``Initializable``, a ``LaunchGroup`` or a
/// ``LaunchStep``.
///
/// It has the modifiers that describe a step. Each returns a changed copy:
///
/// ```swift
/// DatabaseInitializer().id("database").after("logging").timeout(.seconds(5))
/// ```
public protocol LaunchStepConvertible {
  /// The step.
  var launchStep: LaunchStep { get }
}

// MARK: Name and order

extension LaunchStepConvertible {
  /// Names the step, for references and the report.
  ///
  /// No other step and no group of the sequence may have the same id. A step without an id has the name of its type.
  public func id(_ id: String) -> LaunchStep { launchStep.with { $0.id = id } }

  /// Makes the step wait for other steps or groups, even if they fail or are skipped, and for nothing else.
  ///
  /// What systemd calls `Wants` and `After`. Several calls add up. Without an id, the step waits for nothing. The steps
  /// with these ids may be listed later.
  public func after(_ ids: String...) -> LaunchStep { refer(to: ids.map { .id($0) }, .after) }

  /// Makes the step wait for the step of a type, even if that fails or is skipped.
  ///
  /// Exactly one step of the sequence has an initializer of the type.
  public func after<Step: Initializable>(_ type: Step.Type) -> LaunchStep { refer(to: [.init(type)], .after) }

  /// Makes the step wait for another step or group if the sequence has it.
  ///
  /// An id that no step has is ignored.
  public func after(ifPresent id: String) -> LaunchStep { refer(to: [.id(id)], .afterIfPresent) }

  /// Makes the step wait for other steps or groups, and run only if all of them complete.
  ///
  /// What systemd calls `Requires`. If a required step fails or is skipped, this step is skipped, and so are the steps
  /// that require it. The report says why.
  public func requires(_ ids: String...) -> LaunchStep { refer(to: ids.map { .id($0) }, .requires) }

  /// Makes the step wait for the step of a type, and run only if that completes.
  ///
  /// Exactly one step of the sequence has an initializer of the type.
  public func requires<Step: Initializable>(_ type: Step.Type) -> LaunchStep { refer(to: [.init(type)], .requires) }

  /// Makes other steps or groups wait for this step, which itself waits only for what it declares.
  public func before(_ ids: String...) -> LaunchStep { refer(to: ids.map { .id($0) }, .before) }

  private func refer(to targets: [StepReference.Target], _ relation: StepReference.Relation) -> LaunchStep {
    launchStep.with { declared in
      declared.references += targets.map { StepReference(target: $0, relation: relation) }
      declared.declaresOrder = true
    }
  }
}

extension StepReference.Target {
  fileprivate init(_ type: any Initializable.Type) { self = .type(ObjectIdentifier(type), name: "\(type)") }
}

// MARK: Whether and when

extension LaunchStepConvertible {
  /// Runs the step in some stages only.
  ///
  /// In other stages, the step is reported as skipped, and the steps that wait for it go on. The configuration's stage is
  /// read when the sequence is created.
  public func only(in stages: ReleaseStage...) -> LaunchStep { launchStep.with { $0.stages = Set(stages) } }

  /// Runs the step only if a condition holds; if not, the step is reported as skipped.
  ///
  /// The condition gets the sequence's configuration when the step's turn comes.
  public func when(_ condition: @escaping @Sendable (_ configuration: any Configurable) -> Bool) -> LaunchStep {
    launchStep.with { $0.condition = condition }
  }

  /// Runs the step after ``LaunchSequence/launch()`` has returned: for what a program needs, but not at once.
  ///
  /// A deferred step that fails aborts nothing; ``LaunchSequence/events`` and ``LaunchSequence/deferredReport()`` report
  /// it. Steps that wait for it have to be deferred too. It is shut down like any other step.
  public func deferred() -> LaunchStep { launchStep.with { $0.isDeferred = true } }
}

// MARK: Failure and time

extension LaunchStepConvertible {
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
  /// If the cancelled attempt throws, it has failed. If it completes within the sequence's cancellation grace period, the
  /// step counts as completed, with a note. If it goes on for longer, it is abandoned: the step has failed, the report
  /// says so, and the step isn't retried because the attempt may still be at work. If the abandoned attempt completes
  /// later, it is shut down.
  ///
  /// A ``ReadyInitializer`` has the same time again to become ready; the step then has failed, and isn't retried.
  ///
  /// The time begins when the step's turn comes. It passes even while steps block every thread of the concurrency pool
  /// (with `sleep`, a lock, slow files) or the main actor: on the system's clocks, a thread outside the pool measures it,
  /// cancels and abandons. What comes next needs a free thread of the pool: the next steps, the shut-down, the caller of
  /// ``LaunchSequence/launch()``. On other clocks, a task in the pool measures the time. When a step ends, its time is
  /// compared in any case, so the report names a step that took too long.
  ///
  /// - Precondition: The duration is more than zero.
  public func timeout(_ duration: Duration) -> LaunchStep {
    if duration <= .zero {
      fatalError("\(launchStep) can't be done in \(duration). Use a timeout of more than zero.")
    }
    return launchStep.with { $0.timeout = duration }
  }

  /// Limits how long the shut-down of the step may take, on the sequence's clock; the step is then cancelled and, after
  /// the cancellation grace period, left behind.
  ///
  /// A service has this time to end, and ``Initializable/shutDown()`` has it once more. Without this modifier, a step has
  /// as long as its `.timeout`, or ten seconds if it has none.
  ///
  /// - Precondition: The duration is more than zero.
  public func stopTimeout(_ duration: Duration) -> LaunchStep {
    if duration <= .zero {
      fatalError("\(launchStep) can't be shut down in \(duration). Use a timeout of more than zero.")
    }
    return launchStep.with { $0.stopTimeout = duration }
  }

  /// Undoes what the step did before it failed halfway.
  ///
  /// ``Initializable/shutDown()`` is for steps that completed. This closure is called after each attempt that threw an
  /// error, before the attempt is retried or the launch goes on or aborts. It runs in a task of its own, which isn't
  /// cancelled with the attempt and may take as long as a shut-down; see ``stopTimeout(_:)``. An error that it throws is
  /// reported beside the step's.
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
