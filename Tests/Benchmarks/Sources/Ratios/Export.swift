import Foundation

/// The part of the benchmark library's JMH export that this tool reads.
struct Export: Decodable {
  let benchmark: String
  let secondaryMetrics: [String: Metric]

  struct Metric: Decodable {
    let scorePercentiles: [String: Double]

    var median: Double? { scorePercentiles["50.0"] }
  }

  /// One side of a comparison in one round.
  struct Sample {
    let what: String
    let tags: [String: String]
    /// Nanoseconds for one operation.
    let time: Double
    /// The number of allocations of one operation; nil if they aren't counted.
    let allocations: Double?
  }

  /// The sample; nil if the benchmark isn't part of a comparison.
  var sample: Sample? {
    // "package.benchmark.Target.What_it_is_(key:_value,_key:_value)"
    let name = benchmark.split(separator: ".", maxSplits: 3).last?.replacing("_", with: " ") ?? ""
    guard let open = name.lastRange(of: " ("), name.last == ")" else { return nil }
    var tags: [String: String] = [:]
    for tag in name[open.upperBound...].dropLast().split(separator: ", ") {
      let parts = tag.split(separator: ": ", maxSplits: 1)
      if parts.count == 2 { tags[String(parts[0])] = String(parts[1]) }
    }
    guard let times = tags["per"].flatMap(Double.init), let time = secondaryMetrics["Time (wall clock)"]?.median
    else { return nil }
    return Sample(
      what: String(name[..<open.lowerBound]), tags: tags, time: time * 1_000 / times,
      allocations: tags["extra"] == nil ? nil : secondaryMetrics["Allocations"]?.median.map { $0 / times })
  }
}

extension StringProtocol {
  fileprivate func lastRange(of text: String) -> Range<Index>? { range(of: text, options: .backwards) }
}
