#if canImport(UIKit) && !os(watchOS)
  internal import Foundation
  public import UIKit
#elseif canImport(AppKit)
  public import AppKit
  internal import Foundation
#endif

extension LaunchSequence {
  /// Notes that the app went to the background, so the next ``enterForeground()`` is a return.
  public func enterBackground() async { handle(.background) }

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
    let isOwn = callingStep != nil
    let call = enroll(.foreground)
    if isOwn { return .empty }
    guard case .report(let report) = await answer(to: call) else { return .empty }
    return report
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
      observe(application, UIApplication.didEnterBackgroundNotification, UIApplication.willEnterForegroundNotification)
    }
  }
#elseif canImport(AppKit)
  extension LaunchSequence {
    /// Observes an application, and performs steps again when it comes back to the foreground.
    ///
    /// A hidden or inactive application counts as in the background. Call it once, at launch. The sequence is retained as
    /// long as the process runs.
    ///
    /// - Parameter application: The application: `NSApplication.shared`.
    @MainActor public func attach(to application: NSApplication) {
      observe(application, NSApplication.didResignActiveNotification, NSApplication.willBecomeActiveNotification)
    }
  }
#endif

#if canImport(UIKit) && !os(watchOS) || canImport(AppKit)
  extension LaunchSequence {
    @MainActor private func observe(_ application: AnyObject, _ left: Notification.Name, _ returned: Notification.Name)
    {
      let center = NotificationCenter.default
      _ = center.addObserver(forName: left, object: application, queue: nil) { [self] _ in handle(.background) }
      _ = center.addObserver(forName: returned, object: application, queue: nil) { [self] _ in _ = enroll(.foreground) }
    }
  }
#endif
