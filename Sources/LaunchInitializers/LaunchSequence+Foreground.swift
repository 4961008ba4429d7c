internal import SpellRegistry
internal import Support

#if canImport(UIKit) && !os(watchOS)
  internal import Foundation
  public import UIKit
#elseif canImport(AppKit)
  public import AppKit
  internal import Foundation
#endif

extension LaunchSequence {
  /// Notes that the app went to the background, so the next ``enterForeground()`` is a return.
  public func enterBackground() async { noteBackground() }

  /// Notes that the app came to the foreground, and performs the steps again that ask for it.
  ///
  /// Does nothing without a previous ``enterBackground()``, because an app that starts comes to the foreground too.
  /// ``Initializable/shouldPerformWhenApplicationEntersForeground()`` of each completed step is called in the order of the
  /// plan. A failing step is retried if its policy says so, and reported as failed if not; nothing is aborted. During the
  /// launch, the pass through the steps waits for the launch's end. Calls at the same time share one pass, with at most one
  /// more if the app went to the background and came back meanwhile.
  ///
  /// A call from one of the sequence's own steps doesn't wait, and returns an empty report.
  ///
  /// - Returns: The steps that ran; none if there was nothing to do.
  @discardableResult
  public func enterForeground() async -> LaunchReport {
    guard let pass = noteForeground(), StepAttempt.step(of: self) == nil else { return .empty }
    return await pass.value
  }

  /// Notes that the app went to the background, for a notification handler, which can't wait.
  package func noteBackground() { state.withLock { $0.foreground.isInBackground = true } }

  /// Starts a pass through the steps; nil if none is due.
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
    let (isWanted, outcomes, registry) = state.withLock { state in
      state.foreground.pass = state.foreground.next
      state.foreground.next = nil
      let isWanted = if case .launched = state.phase { state.shutDown == nil } else { false }
      return (isWanted, state.outcomes, state.registry)
    }
    var report = LaunchReport.empty
    if isWanted {
      let settled = outcomes.map { $0 == .completed ? nil : LaunchReport.Outcome.completed }
      let runner = LaunchRunner(self, plan, .foreground, in: registry, settled: settled) { [self] runner in
        keep(runner.services)
        ends.continuation.yield(LaunchReport(runner.machine))
        ends.continuation.finish()
      }
      let isShutDown = state.withLock { state in
        state.foreground.runner = runner
        return state.shutDown != nil
      }
      if isShutDown { runner.stop(.shutDown) }
      runner.start()
      for await ended in ends.stream { report = ended }
    }
    state.withLock { state in
      state.foreground.pass = nil
      state.foreground.runner = nil
    }
    return report
  }

  /// Ends the pass under way, and returns when there is none.
  func foregroundIsOver() async {
    let foreground = state.withLock(\.foreground)
    foreground.runner?.stop(.shutDown)
    _ = await foreground.pass?.value
    _ = await foreground.next?.value
  }
}

// MARK: Applications

#if canImport(UIKit) && !os(watchOS)
  extension LaunchSequence {
    /// Observes an application, and performs steps again when it comes back to the foreground.
    ///
    /// Call it once, at launch. The sequence is retained as long as the process runs.
    ///
    /// - Parameter application: The application: `UIApplication.shared`.
    @MainActor public func attach(to application: UIApplication) {
      let center = NotificationCenter.default
      _ = center.addObserver(forName: UIApplication.didEnterBackgroundNotification, object: application, queue: nil) {
        [self] _ in noteBackground()
      }
      _ = center.addObserver(forName: UIApplication.willEnterForegroundNotification, object: application, queue: nil) {
        [self] _ in _ = noteForeground()
      }
    }
  }
#elseif canImport(AppKit)
  extension LaunchSequence {
    /// Observes an application, and performs steps again when it comes back to the foreground.
    ///
    /// A hidden or inactive application counts as in the background.
    ///
    /// Call it once, at launch. The sequence is retained as long as the process runs.
    ///
    /// - Parameter application: The application: `NSApplication.shared`.
    @MainActor public func attach(to application: NSApplication) {
      let center = NotificationCenter.default
      _ = center.addObserver(forName: NSApplication.didResignActiveNotification, object: application, queue: nil) {
        [self] _ in noteBackground()
      }
      _ = center.addObserver(forName: NSApplication.willBecomeActiveNotification, object: application, queue: nil) {
        [self] _ in _ = noteForeground()
      }
    }
  }
#endif
