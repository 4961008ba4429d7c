internal import Locking
internal import SpellRegistry

extension LaunchSequence {
  /// Tells that the app went to the background, so that its next ``enterForeground()`` is a return.
  public func enterBackground() async { noteBackground() }

  /// Tells that the app came to the foreground, and runs the steps that want to run again.
  ///
  /// Only after an ``enterBackground()``, since an app that starts comes to the foreground too. Steps that completed at
  /// launch are asked, in the plan's order. A failing step is retried where its policy says so, and else reported as
  /// failed: nothing is aborted. During the launch it waits for its end. However many call at once, there is one pass, and
  /// at most one more for those who went to the background and came back meanwhile.
  ///
  /// Called from within one of the sequence's own steps it does not wait, and returns an empty report.
  ///
  /// - Returns: The steps that ran; none where there was nothing to do.
  @discardableResult
  public func enterForeground() async -> LaunchReport {
    guard let pass = noteForeground(), StepContext.step(of: self) == nil else { return .empty }
    return await pass.value
  }

  /// What a notification does that can't wait: ``enterBackground()``.
  package func noteBackground() { state.withLock { $0.foreground.isInBackground = true } }

  /// Sees to it that there is a pass for a return to the foreground; nil where none is due.
  @discardableResult
  package func noteForeground() -> Task<LaunchReport, Never>? {
    state.withLock { state in
      switch state.phase {
      case .new, .failed: return nil
      case .launching, .launched: break
      }
      let present = state.foreground.next ?? state.foreground.pass
      guard state.foreground.isInBackground, state.shutDown == nil else { return present }
      state.foreground.isInBackground = false
      if let next = state.foreground.next { return next }
      let former = state.foreground.pass
      let next = Task {
        await self.launchIsOver()
        _ = await former?.value
        return await self.runPass()
      }
      state.foreground.next = next
      return next
    }
  }

  private func runPass() async -> LaunchReport {
    let ends = AsyncStream<LaunchReport>.makeStream()
    let (isWanted, completed, registry) = state.withLock { state in
      state.foreground.pass = state.foreground.next
      state.foreground.next = nil
      let isWanted = if case .launched = state.phase { state.shutDown == nil } else { false }
      return (isWanted, Set(state.completed), state.registry)
    }
    var report = LaunchReport.empty
    if isWanted {
      let run = StepRun(self, .foreground(completed), in: registry) { [self] run in
        keepServices(of: run)
        ends.continuation.yield(run.state.withLock { LaunchReport($0) })
        ends.continuation.finish()
      }
      let isShutDown = state.withLock { state in
        state.foreground.run = run
        return state.shutDown != nil
      }
      if isShutDown { run.stop(.shutDown) }
      run.start()
      for await ended in ends.stream { report = ended }
    }
    state.withLock { state in
      state.foreground.pass = nil
      state.foreground.run = nil
    }
    return report
  }

  /// Ends the pass under way, and returns when none is.
  func foregroundIsOver() async {
    let foreground = state.withLock(\.foreground)
    foreground.run?.stop(.shutDown)
    _ = await foreground.pass?.value
    _ = await foreground.next?.value
  }
}
