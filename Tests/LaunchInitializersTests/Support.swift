import LaunchInitializers
import Support
import SpellTesting
import Synchronization
import TestSupport
import Testing

struct NoConfiguration: Configurable {
  var serviceStorage: ServiceStorage = [:]
  var stage = ReleaseStage.test
  func currentStage() -> ReleaseStage { stage }
  static func defaultConfiguration() -> NoConfiguration { NoConfiguration() }
}

struct Broken: Error, Equatable {
  var number = 0
}

/// A step that does whatever a test says.
struct Do: Initializable {
  var wantsForeground = false
  var whenShutDown: @Sendable () async -> Void = {}
  let body: @Sendable (any Configurable) async throws -> Void

  init(
    wantsForeground: Bool = false, whenShutDown: @escaping @Sendable () async -> Void = {},
    _ body: @escaping @Sendable (any Configurable) async throws -> Void
  ) {
    self.wantsForeground = wantsForeground
    self.whenShutDown = whenShutDown
    self.body = body
  }

  func perform(with configuration: any Configurable) async throws { try await body(configuration) }
  func shouldPerformWhenApplicationEntersForeground() async -> Bool { wantsForeground }
  func shutDown() async { await whenShutDown() }
}

/// A step that notes its name, and its name with a minus when it is shut down.
func note(_ name: String, _ journal: Journal, again: Bool = false) -> Do {
  Do(wantsForeground: again, whenShutDown: { journal.note("-\(name)") }, { _ in journal.note(name) })
}

/// A step that takes some time on a clock.
func take(_ duration: Duration, on clock: TestClock) -> Do {
  Do { _ in try await clock.sleep(for: duration) }
}

extension LaunchReport {
  func entry(_ id: String) -> Entry? { entries.first { $0.id == id } }
}

extension TestClock {
  /// Advances to each time in turn, once a task sleeps until then.
  func advance(through times: Duration...) async {
    for time in times {
      await waitForSleeper(until: time)
      advance(to: Instant(offset: time))
    }
  }
}
