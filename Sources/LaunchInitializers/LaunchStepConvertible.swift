internal import SpellRegistry

/// A type that can be listed as a step of a ``LaunchSequence``: an ``Initializable``, or a ``LaunchStep``.
///
/// It has the modifiers that describe a step. Each returns a changed copy:
///
/// ```swift
/// DatabaseInitializer().id("database").after("logging").timeout(.seconds(5))
/// ```
///
/// The parameters `fileID` and `line` of a modifier are the source location that messages show; leave them out.
public protocol LaunchStepConvertible: Sendable {
  /// The step.
  var launchStep: LaunchStep { get }
}

extension LaunchStepConvertible {
  /// Names the step, for references and the report.
  ///
  /// Without an id, a step has the name of its type.
  ///
  /// - Parameters:
  ///   - id: The id, which no other step of the sequence may have.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func id(_ id: String, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    return launchStep.with(place) { $0.id = (id, place) }
  }

  /// Declares that the step waits for other steps, whatever becomes of them, and for nothing else.
  ///
  /// What systemd calls `Wants` and `After`: the step also runs after a step that failed or was skipped. Several calls
  /// add up. Without an id, the step waits for nothing.
  ///
  /// - Parameters:
  ///   - ids: The ids of the steps to wait for, which may be listed later.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func after(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: ids.map { .id($0) }, .after, SourcePlace(fileID: fileID, line: line))
  }

  /// Declares that the step waits for the step of a type, whatever becomes of it.
  ///
  /// - Parameters:
  ///   - type: The type of the initializer to wait for, which exactly one step of the sequence has.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func after<Step: Initializable>(
    _ type: Step.Type, fileID: StaticString = #fileID, line: UInt = #line
  ) -> LaunchStep {
    refer(to: [.type(type)], .after, SourcePlace(fileID: fileID, line: line))
  }

  /// Declares that the step waits for another one, if the sequence has that.
  ///
  /// - Parameters:
  ///   - id: The id of the step. An id that no step has is ignored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func after(ifPresent id: String, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: [.id(id)], .afterIfPresent, SourcePlace(fileID: fileID, line: line))
  }

  /// Declares that the step waits for other steps, and runs only if all of them complete.
  ///
  /// What systemd calls `Requires`. If a required step fails or is skipped, this step is skipped, with the reason in
  /// the report, and so are the steps that require it.
  ///
  /// - Parameters:
  ///   - ids: The ids of the required steps, which may be listed later.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func requires(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: ids.map { .id($0) }, .requires, SourcePlace(fileID: fileID, line: line))
  }

  /// Declares that the step waits for the step of a type, and runs only if that completes.
  ///
  /// - Parameters:
  ///   - type: The type of the required initializer, which exactly one step of the sequence has.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func requires<Step: Initializable>(
    _ type: Step.Type, fileID: StaticString = #fileID, line: UInt = #line
  ) -> LaunchStep {
    refer(to: [.type(type)], .requires, SourcePlace(fileID: fileID, line: line))
  }

  /// Declares that other steps wait for this step.
  ///
  /// It waits for nothing that it doesn't declare itself.
  ///
  /// - Parameters:
  ///   - ids: The ids of the steps that wait for this one.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func before(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: ids.map { .id($0) }, .before, SourcePlace(fileID: fileID, line: line))
  }

  /// Sets what the launch does when the step fails.
  ///
  /// Without this modifier, the launch aborts.
  ///
  /// A second call adds to the first: `.onFailure(.retry(2, after: .zero)).onFailure(.skip)` retries, then skips.
  ///
  /// - Parameters:
  ///   - policy: The policy.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: A number of retries is at least 1, and their pause isn't negative.
  public func onFailure(_ policy: FailurePolicy, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    if let mistake = policy.mistake { trap(mistake, at: place) }
    return launchStep.with(place) { $0.policy = $0.policy.adding(policy) }
  }

  /// Limits how long one attempt of the step may take.
  ///
  /// After that, the attempt is cancelled.
  ///
  /// If the attempt then throws, it has failed. If it completes within the sequence's cancellation grace period, the
  /// step counts as completed, with a note. If it goes on for longer, it is abandoned: the step has failed, the report
  /// names it, and it isn't retried, since it may still be at work.
  ///
  /// The time begins when the step's turn comes. It passes even while steps block every thread of the concurrency pool
  /// (a `sleep`, a lock, slow files) or the main actor: on the system's clocks a thread outside the pool measures it,
  /// cancels and abandons. What comes after needs the pool: the next steps, shutting down, the caller of
  /// ``LaunchSequence/launch()``. On other clocks, a task in the pool measures the time. A step that took longer says
  /// so in any case, since its time is compared when it ends.
  ///
  /// - Parameters:
  ///   - duration: The limit, on the sequence's clock.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: The duration is more than zero.
  public func timeout(_ duration: Duration, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    if duration <= .zero { trap("A step can't be done in \(duration). Use a timeout of more than zero.", at: place) }
    return launchStep.with(place) { $0.timeout = duration }
  }

  /// Limits how long shutting the step down may take.
  ///
  /// After that, it is cancelled and then left behind.
  ///
  /// Without this modifier, a step has as long as its `.timeout`, or else ten seconds.
  ///
  /// - Parameters:
  ///   - duration: The limit, on the sequence's clock.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: The duration is more than zero.
  public func stopTimeout(_ duration: Duration, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    if duration <= .zero {
      trap("A step can't be shut down in \(duration). Use a timeout of more than zero.", at: place)
    }
    return launchStep.with(place) { $0.stopTimeout = duration }
  }

  /// Runs the step in some stages only.
  ///
  /// In others it is reported as skipped, and the steps that wait for it go on.
  ///
  /// - Parameters:
  ///   - stages: The stages. The configuration's stage is read when the sequence is created.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func only(in stages: ReleaseStage..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.stages = Set(stages) }
  }

  /// Runs the step only if a condition holds.
  ///
  /// If not, it is reported as skipped.
  ///
  /// - Parameters:
  ///   - condition: Returns whether to run the step. It is called when the step's turn comes.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func when(
    fileID: StaticString = #fileID, line: UInt = #line,
    _ condition: @escaping @Sendable (_ configuration: any Configurable) -> Bool
  ) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.condition = condition }
  }

  /// Undoes what the step did before it failed half-way.
  ///
  /// ``Initializable/shutDown()`` is for steps that completed. This closure is called after each attempt that threw an
  /// error, before the attempt is retried or the launch goes on or aborts. It runs in the attempt's task, which is
  /// cancelled if the attempt was, and within its timeout.
  ///
  /// - Parameters:
  ///   - rollback: The closure.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func onRollback(
    fileID: StaticString = #fileID, line: UInt = #line, _ rollback: @escaping @Sendable () async -> Void
  ) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.rollback = rollback }
  }

  /// Runs the step after ``LaunchSequence/launch()`` has returned: for what a program needs, and not at once.
  ///
  /// A deferred step that fails is reported by ``LaunchSequence/events`` and ``LaunchSequence/deferredReport()``, and
  /// aborts nothing. Steps that wait for it have to be deferred as well. It is shut down as any other.
  public func deferred(fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.isDeferred = true }
  }

  private func refer(
    to targets: [StepReference.Target], _ relation: StepReference.Relation, _ place: SourcePlace
  ) -> LaunchStep {
    launchStep.with(place) { step in
      for target in targets { step.references.append(StepReference(target: target, relation: relation, place: place)) }
      step.declaresOrder = true
    }
  }
}
