internal import SpellRegistry

/// A type that can be listed as a step of a ``LaunchSequence``: an ``Initializable``, a ``LaunchGroup`` or a
/// ``LaunchStep``.
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

// MARK: Name and order

extension LaunchStepConvertible {
  /// Names the step, for references and the report.
  ///
  /// No other step and no group of the sequence may have the same id. A step without an id has the name of its type.
  public func id(_ id: String, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    return launchStep.with(location) { $0.id = (id, location) }
  }

  /// Makes the step wait for other steps or groups, even if they fail or are skipped, and for nothing else.
  ///
  /// What systemd calls `Wants` and `After`. Several calls add up. Without an id, the step waits for nothing. The steps
  /// with these ids may be listed later.
  public func after(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: ids.map { .id($0) }, .after, SourcePlace(fileID: fileID, line: line))
  }

  /// Makes the step wait for the step of a type, even if that fails or is skipped.
  ///
  /// Exactly one step of the sequence has an initializer of the type.
  public func after<Step: Initializable>(
    _ type: Step.Type, fileID: StaticString = #fileID, line: UInt = #line
  ) -> LaunchStep {
    refer(to: [.type(type)], .after, SourcePlace(fileID: fileID, line: line))
  }

  /// Makes the step wait for another step or group if the sequence has it.
  ///
  /// An id that no step has is ignored.
  public func after(ifPresent id: String, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: [.id(id)], .afterIfPresent, SourcePlace(fileID: fileID, line: line))
  }

  /// Makes the step wait for other steps or groups, and run only if all of them complete.
  ///
  /// What systemd calls `Requires`. If a required step fails or is skipped, this step is skipped, and so are the steps
  /// that require it. The report says why. Of a step that is performed lazily, the service has to be resolvable.
  public func requires(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: ids.map { .id($0) }, .requires, SourcePlace(fileID: fileID, line: line))
  }

  /// Makes the step wait for the step of a type, and run only if that completes.
  ///
  /// Exactly one step of the sequence has an initializer of the type.
  public func requires<Step: Initializable>(
    _ type: Step.Type, fileID: StaticString = #fileID, line: UInt = #line
  ) -> LaunchStep {
    refer(to: [.type(type)], .requires, SourcePlace(fileID: fileID, line: line))
  }

  /// Makes other steps or groups wait for this step, which itself waits only for what it declares.
  public func before(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    refer(to: ids.map { .id($0) }, .before, SourcePlace(fileID: fileID, line: line))
  }

  private func refer(
    to targets: [StepReference.Target], _ relation: StepReference.Relation, _ location: SourcePlace
  ) -> LaunchStep {
    launchStep.with(location) { declared in
      for target in targets {
        declared.references.append(StepReference(target: target, relation: relation, location: location))
      }
      declared.declaresOrder = true
    }
  }
}

// MARK: Whether and when

extension LaunchStepConvertible {
  /// Runs the step in some stages only.
  ///
  /// In other stages, the step is reported as skipped, and the steps that wait for it go on. The configuration's stage is
  /// read when the sequence is created.
  public func only(in stages: ReleaseStage..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.stages = Set(stages) }
  }

  /// Runs the step only if a condition holds; if not, the step is reported as skipped.
  ///
  /// The condition gets the sequence's configuration when the step's turn comes.
  public func when(
    fileID: StaticString = #fileID, line: UInt = #line,
    _ condition: @escaping @Sendable (_ configuration: any Configurable) -> Bool
  ) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.condition = condition }
  }

  /// Runs the step after ``LaunchSequence/launch()`` has returned: for what a program needs, but not at once.
  ///
  /// A deferred step that fails aborts nothing; ``LaunchSequence/events`` and ``LaunchSequence/deferredReport()`` report
  /// it. Steps that wait for it have to be deferred too. It is shut down like any other step.
  public func deferred(fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    launchStep.with(SourcePlace(fileID: fileID, line: line)) { $0.isDeferred = true }
  }

  /// Performs the step when its service is first resolved, instead of at launch.
  ///
  /// ```swift
  /// SearchIndexInitializer().id("search").after("database").lazily()
  ///
  /// let index = try await InitializerRegistry.current.resolveAsync(SearchIndex.self)   // performs the step
  /// ```
  ///
  /// When the step's turn comes at launch, an async initializer of its service is registered, so a synchronous read
  /// throws an error of code `.notReady` until the service has been awaited once. The first
  /// `resolveAsync` performs the step, with its timeout, retries and events, and however many callers await it, one run
  /// serves them all. If the step fails, the callers get the error, and the next one tries again; no policy aborts
  /// anything. In the launch's report the step is ``LaunchReport/Outcome/notRun`` unless it was performed meanwhile. Steps
  /// that wait for it wait until its service can be resolved.
  ///
  /// After it was performed, it is shut down and asked for its health like any other step. A shut-down or a failing launch
  /// ends it. The registry keeps the sequence until the sequence has been shut down.
  ///
  /// - Precondition: The initializer is a ``ServiceInitializer``.
  public func lazily(fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    let step = launchStep
    if !(step.declared.initializer is any ServiceInitializer) {
      trap(
        ".lazily() is for a ServiceInitializer, and \(step) isn't one. Remove it, or add makeService(with:).",
        at: location)
    }
    return step.with(location) { $0.isLazy = true }
  }
}

// MARK: Failure and time

extension LaunchStepConvertible {
  /// Sets what the launch does when the step fails; without this modifier, it aborts.
  ///
  /// A second call adds to the first: `.onFailure(.retry(2, after: .zero)).onFailure(.skip)` retries, then skips.
  ///
  /// - Precondition: A number of retries is at least 1, and their pause isn't negative.
  public func onFailure(_ policy: FailurePolicy, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    if let mistake = policy.mistake { trap(mistake, at: location) }
    return launchStep.with(location) { $0.policy = $0.policy.adding(policy) }
  }

  /// Limits how long one attempt of the step may take, on the sequence's clock; the attempt is then cancelled.
  ///
  /// If the cancelled attempt throws, it has failed. If it completes within the sequence's cancellation grace period, the
  /// step counts as completed, with a note. If it goes on for longer, it is abandoned: the step has failed, the report
  /// says so, and the step isn't retried because the attempt may still be at work.
  ///
  /// The time begins when the step's turn comes. It passes even while steps block every thread of the concurrency pool
  /// (with `sleep`, a lock, slow files) or the main actor: on the system's clocks, a thread outside the pool measures it,
  /// cancels and abandons. What comes next needs a free thread of the pool: the next steps, the shut-down, the caller of
  /// ``LaunchSequence/launch()``. On other clocks, a task in the pool measures the time. When a step ends, its time is
  /// compared in any case, so the report names a step that took too long.
  ///
  /// - Precondition: The duration is more than zero.
  public func timeout(_ duration: Duration, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    if duration <= .zero { trap("A step can't be done in \(duration). Use a timeout of more than zero.", at: location) }
    return launchStep.with(location) { $0.timeout = duration }
  }

  /// Limits how long the shut-down of the step may take, on the sequence's clock; the step is then cancelled and left
  /// behind.
  ///
  /// Without this modifier, a step has as long as its `.timeout`, or ten seconds if it has none.
  ///
  /// - Precondition: The duration is more than zero.
  public func stopTimeout(_ duration: Duration, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    if duration <= .zero {
      trap("A step can't be shut down in \(duration). Use a timeout of more than zero.", at: location)
    }
    return launchStep.with(location) { $0.stopTimeout = duration }
  }

  /// Undoes what the step did before it failed halfway.
  ///
  /// ``Initializable/shutDown()`` is for steps that completed. This closure is called after each attempt that threw an
  /// error, before the attempt is retried or the launch goes on or aborts. It runs in the attempt's task, which is
  /// cancelled if the attempt was, and within its timeout.
  ///
  /// - Precondition: The step isn't a group.
  public func onRollback(
    fileID: StaticString = #fileID, line: UInt = #line, _ rollback: @escaping @Sendable () async -> Void
  ) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    let step = launchStep
    if step.declared.members != nil {
      trap(".onRollback is for a step, and \(step) is a group. Add it to the steps that need it.", at: location)
    }
    return step.with(location) { $0.rollback = rollback }
  }

  /// Sets what the sequence does when the step's service ends by itself; without this modifier, it shuts down.
  ///
  /// - Precondition: The initializer is a ``RunningInitializer``; a number of restarts is at least 1.
  public func onExit(_ policy: ExitPolicy, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let location = SourcePlace(fileID: fileID, line: line)
    if let mistake = policy.mistake { trap(mistake, at: location) }
    let step = launchStep
    if !(step.declared.initializer is any RunningInitializer) {
      trap(".onExit is for a RunningInitializer, and \(step) isn't one. Remove it, or add run(_:).", at: location)
    }
    return step.with(location) { $0.exitPolicy = policy }
  }
}
