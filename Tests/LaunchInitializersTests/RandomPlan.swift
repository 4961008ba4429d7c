import LaunchInitializers
import SpellTesting
import TestSupport

/// A random plan of a few steps, the same for the same seed.
struct RandomPlan: Sendable {
  enum Ending: Sendable { case completes, fails, skips }
  enum Policy: Sendable { case abort, skip, retry(Int, after: Duration, skips: Bool) }

  struct Step: Sendable {
    let id: String
    /// The steps that it waits for by declaration; nil if it is part of the line.
    var declared: [(step: Int, isRequired: Bool)]?
    var attempts: [(duration: Duration, ending: Ending)]
    var heedsCancellation: Bool
    var policy: Policy
    var timeout: Duration?
    var isExcluded: Bool
    var shutDownDuration: Duration

    func attempt(_ number: Int) -> (duration: Duration, ending: Ending) { attempts[min(number, attempts.count) - 1] }
  }

  let seed: UInt64
  let maxConcurrentSteps: Int
  let grace: Duration
  private(set) var steps: [Step] = []

  init(seed: UInt64) {
    self.seed = seed
    var random = SplitMix(seed: seed)
    maxConcurrentSteps = Int.random(in: 1...4, using: &random)
    // Each duration has digits of its own, so that no two things happen at once.
    var digits = 0
    func duration(_ range: ClosedRange<Int>) -> Duration {
      digits += 1
      return .milliseconds(Int.random(in: range, using: &random)) + .nanoseconds(digits * digits + digits)
    }
    grace = duration(1...30)
    let count = Int.random(in: 1...14, using: &random)
    // A hidden order, in which the steps of the line are as they are listed, so that there is no cycle.
    let isInLine = (0..<count).map { _ in Int.random(in: 0..<3, using: &random) == 0 }
    var hidden = (0..<count).shuffled(using: &random)
    let line = (0..<count).filter { isInLine[$0] }
    for (step, rank) in zip(line, line.map { hidden[$0] }.sorted()) { hidden[step] = rank }
    let isCalm = Bool.random(using: &random)
    for number in 0..<count {
      func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
      var declared: [(Int, Bool)]?
      if !isInLine[number] {
        let earlier = (0..<count).filter { hidden[$0] < hidden[number] }.shuffled(using: &random)
        declared = earlier.prefix(Int.random(in: 0...3, using: &random)).map { ($0, chance(3)) }
      }
      let attempts = (0..<3).map { _ in
        let ending: Ending = chance(isCalm ? 12 : 4) ? .fails : chance(12) ? .skips : .completes
        return (duration(1...100), ending)
      }
      let policy: Policy =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .abort
        case 1: .skip
        default:
          .retry(Int.random(in: 1...3, using: &random), after: duration(1...60), skips: Bool.random(using: &random))
        }
      steps.append(
        Step(
          id: "s\(number)", declared: declared, attempts: attempts, heedsCancellation: !chance(4), policy: policy,
          timeout: chance(3) ? duration(20...120) : nil, isExcluded: chance(10), shutDownDuration: duration(1...50)))
    }
  }

  /// The steps that each one waits for.
  var dependencies: [[Int]] {
    var former: Int?
    return steps.indices.map { index in
      if let declared = steps[index].declared { return declared.map(\.step) }
      defer { former = index }
      return former.map { [$0] } ?? []
    }
  }

  func sequence(on clock: TestClock, _ journal: Journal) throws -> LaunchSequence {
    try LaunchSequence(
      configuration: NoConfiguration(), maxConcurrentSteps: maxConcurrentSteps, cancellationGracePeriod: grace,
      clock: clock
    ) {
      for step in steps { Self.listed(step, steps, clock, journal) }
    }
  }

  private static func listed(_ step: Step, _ steps: [Step], _ clock: TestClock, _ journal: Journal) -> LaunchStep {
    let calls = Counter()
    var listed = Do(
      whenShutDown: {
        journal.note("-\(step.id)")
        await sleep(step.shutDownDuration, on: clock, heedsCancellation: step.heedsCancellation)
      },
      { _ in
        let (duration, ending) = step.attempt(calls.increment())
        await sleep(duration, on: clock, heedsCancellation: step.heedsCancellation)
        if step.heedsCancellation { try Task.checkCancellation() }
        switch ending {
        case .completes: journal.note("+\(step.id)")
        case .fails: throw Broken()
        case .skips: throw SkipInitializer("nothing to do")
        }
      }
    ).id(step.id).stopTimeout(.seconds(100))
    if let declared = step.declared {
      listed = listed.after()
      for (other, isRequired) in declared {
        listed = isRequired ? listed.requires(steps[other].id) : listed.after(steps[other].id)
      }
    }
    if let timeout = step.timeout { listed = listed.timeout(timeout) }
    if step.isExcluded { listed = listed.only(in: .production) }
    return switch step.policy {
    case .abort: listed
    case .skip: listed.onFailure(.skip)
    case .retry(let count, let pause, let skips):
      skips
        ? listed.onFailure(.retry(count, after: pause)).onFailure(.skip) : listed.onFailure(.retry(count, after: pause))
    }
  }

  private static func sleep(_ duration: Duration, on clock: TestClock, heedsCancellation: Bool) async {
    let sleep = Task {
      do { try await clock.sleep(for: duration) } catch {}
    }
    guard heedsCancellation else { return await sleep.value }
    await withTaskCancellationHandler {
      await sleep.value
    } onCancel: {
      sleep.cancel()
    }
  }
}
