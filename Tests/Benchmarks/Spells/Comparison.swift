import Benchmark
import Measuring

/// The goal of a comparison.
enum Goal {
  /// At most so many times as long as the baseline.
  case ratio(Double)
  /// At most so long.
  case nanoseconds(Int)
  /// The figure is for information.
  case none
}

/// Prepares what is measured, once, and gives what is run for each sample.
typealias Preparation<Run> = () throws -> Run

/// Something of Spellbook's beside what a program would have without it.
///
/// Each is prepared and sampled in a process of its own, the two one after the other, in several rounds. All that the
/// table of ratios needs is in the benchmarks' tags.
struct Comparison {
  static let rounds = 3

  let what: String
  let baseline: String
  var goal = Goal.none
  /// The number of allocations beyond the baseline's that an operation may make; infinity if they are only counted, nil if
  /// they are of no interest.
  var extraAllocations: Double?
  /// The number of operations of a sample.
  ///
  /// Enough to make the clock's own time vanish, and few enough to be done, mostly, before the system gives the processor
  /// to another program: some 0.1 to 1 ms.
  var times = 1_000
  /// Whether a process takes one sample, the first, instead of many after some that don't count.
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

  /// Adds the benchmarks of both sides, for what has to be awaited.
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

/// Measures the part of a sample that counts.
struct Meter {
  let benchmark: Benchmark
  let times: Int

  /// Measures `body`, which does as many operations as the range is long.
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

/// Takes a value as any function would, and has the optimiser believe that it is needed.
///
/// Not inlined, so that an object is held over the call, as it would be in a program. The library's `blackHole` has a
/// generic argument, which costs more than the reads that are measured.
@inline(never) func use<Value>(_ value: Value) { withUnsafePointer(to: value) { measuring_use($0) } }
