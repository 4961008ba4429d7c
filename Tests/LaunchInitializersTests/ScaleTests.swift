import Foundation
import LaunchInitializers
import TestSupport
import Testing

@Suite("Scale", .timeLimit(.hang)) struct ScaleTests {
  enum Shape: String, CaseIterable { case line, independent, chain, star, random, otherRandom }

  private struct Nothing: Initializable {
    func perform(with configuration: any Configurable) throws {}
  }

  private static func dependencies(_ shape: Shape, _ count: Int) -> [[Int]] {
    var generator = SplitMix(seed: shape == .random ? 7 : 8)
    return (0..<count).map { number in
      switch shape {
      case .line, .independent: []
      case .chain: number == 0 ? [] : [number - 1]
      case .star: number == 0 ? [] : number == count - 1 ? Array(0..<number) : [0]
      case .random, .otherRandom:
        // A step depends on steps that precede it in a hidden order, which differs from the order of the list.
        (0..<3).compactMap { _ in number == 0 ? nil : Int.random(in: 0..<number, using: &generator) }
      }
    }
  }

  private static func steps(_ shape: Shape, _ count: Int) -> [LaunchStep] {
    let ids = (0..<count).map { "\($0)" }
    var steps = dependencies(shape, count).enumerated().map { number, needed in
      needed.reduce(shape == .line ? Nothing().id(ids[number]) : Nothing().id(ids[number]).after()) {
        $0.after(ids[$1])
      }
    }
    if shape == .otherRandom {
      var generator = SplitMix(seed: 9)
      steps.shuffle(using: &generator)
    }
    return steps
  }

  @Test("ten thousand steps of any shape are planned and run", arguments: Shape.allCases)
  func shapes(shape: Shape) async throws {
    let steps = Self.steps(shape, 10_000)
    let report = try await LaunchSequence { steps }.launch()
    #expect(report.entries.count == 10_000)
    #expect(report.entries.allSatisfy { $0.outcome == .completed })
    let ends = Dictionary(uniqueKeysWithValues: report.entries.map { ($0.id, $0.end) })
    let isInOrder = report.entries.allSatisfy { entry in
      entry.waitedFor.allSatisfy { ends[$0, default: .zero] <= entry.start }
    }
    #expect(isInOrder)
  }

  #if os(macOS) || os(Linux)
    /// The processor time of the thread, which other programs don't affect.
    private static var work: Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test(
      "the work to plan steps grows with their number, not with its square", arguments: [Shape.chain, .star, .random])
    func linear(shape: Shape) throws {
      let (few, many) = (Self.steps(shape, 500), Self.steps(shape, 8_000))
      func cost(_ steps: [LaunchStep]) throws -> Duration {
        let start = Self.work
        _ = try LaunchSequence { steps }
        return Self.work - start
      }
      var (cheap, dear) = (Duration.seconds(60), Duration.seconds(60))
      for _ in 0..<10 { (cheap, dear) = (min(cheap, try cost(few)), min(dear, try cost(many))) }
      // With sixteen times the steps, the time should grow by 16 and a logarithmic factor; quadratic growth would be
      // 256.
      #expect(dear / cheap < 64)
    }
  #endif
}
