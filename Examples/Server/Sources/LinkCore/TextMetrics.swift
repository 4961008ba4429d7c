public import Metrics
import Synchronization

/// A metrics factory that shows its metrics in the text format of Prometheus.
///
/// The text has the value of each counter and gauge. For each recorder and timer, the text has the sum and the number
/// of the recorded values.
public final class TextMetrics: MetricsFactory {
  private struct Key: Hashable {
    let name: String
    let labels: String
  }

  private let values = Mutex<[Key: Metric]>([:])

  /// Creates a factory without metrics.
  public init() {}

  /// The metrics as text, with a line for each value, sorted by name.
  public var text: String {
    let values = values.withLock(\.self)
    return values.sorted { ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels) }
      .flatMap { $1.lines(name: $0.name, labels: $0.labels) }.map { $0 + "\n" }.joined()
  }

  private func metric(_ label: String, _ dimensions: [(String, String)], isSummary: Bool = false) -> Metric {
    let pairs = dimensions.map { "\(Self.name($0))=\"\(Self.escaped($1))\"" }
    let labels = pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
    let key = Key(name: Self.name(label), labels: labels)
    return values.withLock { values in
      if let known = values[key] { return known }
      let new = Metric(isSummary: isSummary)
      values[key] = new
      return new
    }
  }

  /// Returns a name for Prometheus, in which each character other than an ASCII letter or digit is an underscore.
  private static func name(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private static func escaped(_ text: String) -> String {
    text.map { ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"][$0] ?? String($0) }.joined()
  }

  /// Returns the counter for a label, created at the first call.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    metric(label, dimensions)
  }

  /// Returns the gauge for a label, created at the first call.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { metric(label, dimensions) }

  /// Returns the recorder for a label, or a gauge if `aggregate` is false.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    metric(label, dimensions, isSummary: aggregate)
  }

  /// Returns the timer for a label, whose values are shown in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    metric(label, dimensions, isSummary: true)
  }

  /// Does nothing, because a metric lives as long as the factory.
  public func destroyCounter(_ handler: any CounterHandler) {}
  /// Does nothing, because a metric lives as long as the factory.
  public func destroyMeter(_ handler: any MeterHandler) {}
  /// Does nothing, because a metric lives as long as the factory.
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  /// Does nothing, because a metric lives as long as the factory.
  public func destroyTimer(_ handler: any TimerHandler) {}
}

/// A metric of any kind, which has either a single value or a sum and a count.
private final class Metric: CounterHandler, MeterHandler, RecorderHandler, TimerHandler, Sendable {
  private let isSummary: Bool
  private let state = Mutex((value: 0.0, count: 0))

  init(isSummary: Bool) { self.isSummary = isSummary }

  func lines(name: String, labels: String) -> [String] {
    let (value, count) = state.withLock { ($0.value, $0.count) }
    if !isSummary { return ["\(name)\(labels) \(value)"] }
    return ["\(name)_sum\(labels) \(value)", "\(name)_count\(labels) \(count)"]
  }

  func increment(by amount: Int64) { increment(by: Double(amount)) }
  func increment(by amount: Double) { state.withLock { $0.value += amount } }
  func decrement(by amount: Double) { increment(by: -amount) }
  func reset() { set(Int64(0)) }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { state.withLock { $0.value = value } }
  func record(_ value: Int64) { record(Double(value)) }
  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Double) {
    state.withLock { state in
      state = isSummary ? (state.value + value, state.count + 1) : (value, state.count + 1)
    }
  }
}
