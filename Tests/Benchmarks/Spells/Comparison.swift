import Benchmark
import Measuring

/// The goal of a comparison.
enum Goal {
  /// The time is at most this multiple of the baseline's.
  case ratio(Double)
  /// The time is at most this long.
  case nanoseconds(Int)
  /// The figure is for information.
  case none
}

/// A function that prepares a measurement once, and returns the code to run for each sample.
typealias Preparation<Run> = () throws -> Run

/// A comparison of a Spellbook operation with the code that a program would have instead.
///
/// Each side is prepared and sampled in its own process, one after the other, in several rounds. The benchmarks' tags
/// have everything that the table of ratios needs.
struct Comparison {
  static let rounds = 3

  let what: String
  let baseline: String
  var goal = Goal.none
  /// The number of allocations beyond the baseline's that an operation may make; infinity to only count them, nil to
  /// ignore them.
  var extraAllocations: Double?
  /// The number of operations in a sample.
  ///
  /// A sample should take about 0.1 to 1 ms: long enough that the time of reading the clock doesn't count, and short
  /// enough to end, usually, before the system gives the processor to another program.
  var times = 1_000
  /// Whether a process takes only its first sample, instead of many after a warm-up.
  var isCold = false

  /// Adds the benchmarks of both sides.
  func add(
    subject: @escaping Preparation<(Meter) throws -> Void>, baseline: @escaping Preparation<(Meter) throws -> Void>
  ) {
    forEachRound { side, configuration in
      let prepare = side == .subject ? subject : baseline
      Benchmark(what, configuration: configuration) { benchmark, run in
        try run(Meter(benchmark: benchmark, times: times))
      } setup: {
        try prepare()
      }
    }
  }

  /// Adds the benchmarks of both sides, for async code.
  func add(
    subject: @escaping Preparation<(Meter) async throws -> Void>,
    baseline: @escaping Preparation<(Meter) async throws -> Void>
  ) {
    forEachRound { side, configuration in
      let prepare = side == .subject ? subject : baseline
      Benchmark(what, configuration: configuration) { benchmark, run in
        try await run(Meter(benchmark: benchmark, times: times))
      } setup: {
        try prepare()
      }
    }
  }

  private enum Side: String, CaseIterable { case subject, baseline }

  private func forEachRound(_ add: (Side, Benchmark.Configuration) -> Void) {
    var tags = ["per": "\(times)", "with": baseline]
    switch goal {
    case .ratio(let ratio): tags["goal"] = "\(ratio)x"
    case .nanoseconds(let nanoseconds): tags["goal"] = "\(nanoseconds)ns"
    case .none: break
    }
    tags["extra"] = extraAllocations.map { "\($0)" }
    for round in 1...Self.rounds {
      for side in Side.allCases {
        tags["round"] = "\(round)"
        tags["side"] = side.rawValue
        add(
          side,
          Benchmark.Configuration(
            metrics: [.wallClock, .throughput, .allocations], tags: tags, warmupIterations: isCold ? 0 : 3,
            scalingFactor: BenchmarkScalingFactor(rawValue: times) ?? .one, maxDuration: .milliseconds(60),
            maxIterations: isCold ? 1 : 10_000))
      }
    }
  }
}

/// A meter for the part of a sample that counts.
struct Meter {
  let benchmark: Benchmark
  let times: Int

  /// Measures `body`, which performs one operation for each number in the range.
  @inline(__always) func measure(_ body: (Range<Int>) throws -> Void) rethrows {
    benchmark.startMeasurement()
    let before = measuring_allocations()
    try body(0..<times)
    let after = measuring_allocations()
    benchmark.stopMeasurement()
    if before >= 0 { benchmark.measurement(.allocations, Int(after - before)) }
  }
}

extension BenchmarkMetric {
  static var allocations: BenchmarkMetric { .custom("Allocations", useScalingFactor: true) }
}

/// Takes a value as any function would, so that the optimizer keeps the value.
///
/// This isn't inlined, so that an object is retained for the call, as it would be in a program. The library's
/// `blackHole` has a generic argument, which costs more than the reads that are measured.
@inline(never) func use<Value>(_ value: Value) { withUnsafePointer(to: value) { measuring_use($0) } }
