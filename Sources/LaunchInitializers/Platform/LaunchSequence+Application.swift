#if canImport(UIKit) && !os(watchOS)
  internal import Foundation
  public import UIKit

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
  public import AppKit
  internal import Foundation

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
