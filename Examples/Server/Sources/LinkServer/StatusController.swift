import HTTPTypes
public import Hummingbird
import InjectedSpell
import LaunchInitializers
import LinkCore
public import Metrics
import SpellRegistry

/// A controller with the routes for monitoring, which are `/ready`, `/health` and `/metrics`.
public final class StatusController: Sendable {
  private let launch = Injected<LaunchSequence?>()
  private let metrics = Injected<TextMetrics>()
  private let links = Injected<LinkStore>()
  private let factory = Injected<any MetricsFactory>()

  /// Creates a controller that uses the current registry.
  public init() {}

  /// Adds the controller's routes to a group.
  public func addRoutes(to group: RouterGroup<some RequestContext>) {
    group.get("ready") { _, _ in self.isReady ? HTTPResponse.Status.ok : .serviceUnavailable }
    group.get("health") { _, _ in self.health() }
    group.get("metrics") { _, _ in self.text() }
  }

  private var isReady: Bool { launch.value?.isReady ?? false }

  /// Returns the outcome of each launch step, or its message, such as an error that its service has thrown since.
  private func health() -> EditedResponse<[String: String]> {
    guard let launch = launch.value, let report = launch.report, launch.isReady else {
      return EditedResponse(status: .serviceUnavailable, response: ["launch": "not ready"])
    }
    let steps = report.entries.map { ($0.id, $0.message ?? $0.outcome.rawValue) }
    return EditedResponse(status: .ok, response: Dictionary(uniqueKeysWithValues: steps))
  }

  private func text() -> String {
    Meter(label: "links", factory: factory.value).set(links.value.count)
    return metrics.value.text
  }
}

/// The service's own counters, in addition to the request metrics of Hummingbird.
public struct Counters: Sendable {
  /// The number of created links.
  public let created: Counter
  /// The number of times that a link was followed.
  public let followed: Counter
  /// The number of requests that exceeded the rate limit.
  public let limited: Counter
  /// The number of refused values of settings.
  public let refused: Counter

  /// Creates the counters with a metrics factory.
  public init(_ factory: any MetricsFactory) {
    created = Counter(label: "links_created_total", factory: factory)
    followed = Counter(label: "links_followed_total", factory: factory)
    limited = Counter(label: "requests_limited_total", factory: factory)
    refused = Counter(label: "settings_refused_total", factory: factory)
  }
}
