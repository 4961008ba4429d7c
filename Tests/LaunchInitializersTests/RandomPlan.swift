@testable import LaunchInitializers
import SpellRegistry
import TestSupport

/// A random plan of a few steps, with events; the same seed gives the same plan.
struct RandomPlan {
  struct Step {
    let id: String
    /// The steps and groups that the step refers to, and whether it requires each.
    let references: [(id: String, isRequired: Bool)]
    /// The steps that the step waits for, by itself or with its group, and whether it requires each.
    let awaited: [(step: Int, isRequired: Bool)]
    let isDeferred: Bool
    let isExcluded: Bool
    /// Whether the step has a service, and whether the service reports when it is ready.
    let (runs, saysReady): (Bool, Bool)
    let timeout: Duration?
    let stopTimeout: Duration
    let hasRollback: Bool
    let policy: FailurePolicy?
    let exitPolicy: ExitPolicy
    let skips: Bool
    /// The key that gives the step's services; nil for their type.
    let key: InjectionKey<OracleProducts.Part>?
  }

  /// A group of adjacent steps in the list, with references to other steps, and to which other steps can refer.
  struct Group {
    let id: String
    let first: Int
    var end: Int
    let references: [(id: String, isRequired: Bool)]
    let awaited: [(step: Int, isRequired: Bool)]
  }

  let seed: UInt64
  let maxConcurrentSteps: Int
  let grace: Duration
  let drain: Duration
  let limit: Duration
  private(set) var steps: [Step] = []
  private(set) var groups: [Group] = []
  /// The events from outside, and their times.
  private(set) var script: [(time: Duration, input: LaunchMachine.Input)] = []
  /// The generator for all further random choices.
  var random: SplitMix

  init(seed: UInt64) {
    self.seed = seed
    self.random = SplitMix(seed: ~seed)
    var random = SplitMix(seed: seed)
    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    func duration(_ range: ClosedRange<Int>) -> Duration { .milliseconds(Int.random(in: range, using: &random)) }
    maxConcurrentSteps = Int.random(in: 1...4, using: &random)
    grace = duration(0...30)
    drain = chance(2) ? .zero : duration(1...80)
    limit = chance(4) ? duration(0...150) : .seconds(30)
    let isCalm = chance(2)
    let count = Int.random(in: 1...10, using: &random)
    var openGroup: Group?
    for number in 0..<count {
      if openGroup == nil, chance(4) {
        let candidates = steps.indices.filter { !steps[$0].isDeferred }.shuffled(using: &random)
        let awaited = candidates.prefix(Int.random(in: 0...2, using: &random)).map { ($0, chance(3)) }
        openGroup = Group(
          id: "g\(number)", first: number, end: number, references: awaited.map { (steps[$0].id, $1) }, awaited: awaited
        )
      }
      let isDeferred = chance(6)
      let candidates = steps.indices.filter { isDeferred || !steps[$0].isDeferred }.shuffled(using: &random)
      var awaited = candidates.prefix(Int.random(in: 0...3, using: &random)).map { ($0, chance(3)) }
      var references = awaited.map { (steps[$0].id, $1) }
      if openGroup == nil, chance(3), let group = groups.randomElement(using: &random) {
        let isRequired = chance(3)
        references.append((group.id, isRequired))
        let members = (group.first..<group.end).filter { !steps[$0].isDeferred }
        awaited += members.map { ($0, isRequired) } + group.awaited.map { ($0, $1 && isRequired) }
      }
      awaited += openGroup?.awaited ?? []
      let (runs, skips) = (chance(2), chance(isCalm ? 1 : 2))
      let retries =
        chance(3) ? FailurePolicy.retry(Int.random(in: 1...2, using: &random), after: duration(0...40)) : nil
      let restart = ExitPolicy.restart(max: 2, within: .seconds(1), backoff: .constant(duration(0...30)))
      let exits: [ExitPolicy] = isCalm ? [.ignore, restart] : [.shutDown, .finish, .ignore, restart]
      steps.append(
        Step(
          id: Self.id(number), references: references, awaited: awaited, isDeferred: isDeferred, isExcluded: chance(12),
          runs: runs, saysReady: runs && chance(2), timeout: chance(3) ? duration(5...90) : nil,
          stopTimeout: duration(5...200), hasRollback: chance(2), policy: retries,
          exitPolicy: exits.randomElement(using: &random) ?? .ignore, skips: skips,
          key: chance(2) ? OracleProducts.keys.randomElement(using: &random) : nil))
      guard var group = openGroup else { continue }
      group.end = number + 1
      if chance(2) || group.end == count {
        groups.append(group)
        openGroup = nil
      } else {
        openGroup = group
      }
    }
    script = [(.zero, chance(2) ? .call(1, .launch) : .call(1, .run(drain: drain, limit: limit)))]
    for call in 2..<Int.random(in: 2...7, using: &random) {
      let input: LaunchMachine.Input =
        switch Int.random(in: 0..<9, using: &random) {
        case 0: .call(call, .launch)
        case 1: .call(call, .run(drain: drain, limit: limit))
        case 2: .call(call, .shutDown(within: limit))
        case 3, 4: .signal(15, arrival: call)
        case 5: .cancelled(Int.random(in: 1...call, using: &random))
        case 6: .background
        default: .call(chance(4) ? nil : call, .foreground)
        }
      script.append((duration(0...600), input))
    }
    // This call ensures that each sequence ends.
    script.append((.seconds(5), .call(100, .shutDown(within: limit))))
  }

  /// Returns the ID of a step: most IDs are short, and some are long, wide or hostile.
  private static func id(_ number: Int) -> String {
    switch number % 5 {
    case 3: "s\(number) with a name that is longer than most, <& \"so\"> the picture needs more room for it"
    case 4: "s\(number) \u{1b}[31m数据库初始化程序"
    default: "s\(number)"
    }
  }

  func machine() throws -> LaunchMachine {
    let members = steps.map { step in
      var listed = step.runs ? Runs().onExit(step.exitPolicy) : OracleProducts.Maker().launchStep
      if let key = step.key { listed = listed.with { $0.key = key } }
      listed = listed.id(step.id).after()
      for (other, isRequired) in step.references {
        listed = isRequired ? listed.requires(other) : listed.after(other)
      }
      listed = listed.stopTimeout(step.stopTimeout)
      if let timeout = step.timeout { listed = listed.timeout(timeout) }
      if step.isDeferred { listed = listed.deferred() }
      if step.isExcluded { listed = listed.only(in: .production) }
      if step.hasRollback { listed = listed.onRollback {} }
      if let policy = step.policy { listed = listed.onFailure(policy) }
      return step.skips ? listed.onFailure(.skip) : listed
    }
    var (listed, next): ([LaunchStep], Int) = ([], 0)
    for group in groups {
      listed += members[next..<group.first]
      var step = LaunchGroup(group.id) { Array(members[group.first..<group.end]) }.after()
      for (other, isRequired) in group.references { step = isRequired ? step.requires(other) : step.after(other) }
      listed.append(step)
      next = group.end
    }
    listed += members[next...]
    var machine = LaunchMachine(
      try LaunchPlan(listed, stage: .test), maxConcurrentSteps: maxConcurrentSteps, grace: grace)
    machine.isObserved = true
    return machine
  }

  private struct Runs: RunningInitializer {
    func run(_ configuration: any Configurable) async throws {}
  }
}
