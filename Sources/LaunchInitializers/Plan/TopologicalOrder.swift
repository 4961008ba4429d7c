/// Who waits for whom, and an order in which nobody waits for a later one: of those that could be next, the one that is
/// written first (Kahn's algorithm with a heap).
struct StepOrder {
  /// The steps each one waits for, as they are written.
  private(set) var dependencies: [[Int]]
  /// The steps in the order found.
  private(set) var indices: [Int] = []

  init(_ steps: [LaunchStep], _ names: StepNames) throws(LaunchPlanError) {
    dependencies = Array(repeating: [], count: steps.count)
    try addDeclared(steps, names)
    var former: Int?
    for (index, step) in steps.enumerated() where !step.declaresOrder {
      if let former { dependencies[index].append(former) }
      former = index
    }
    for index in dependencies.indices where dependencies[index].count > 1 {
      var seen: Set<Int> = []
      dependencies[index].removeAll { !seen.insert($0).inserted }
    }
    try sort(steps, names)
  }

  private mutating func addDeclared(_ steps: [LaunchStep], _ names: StepNames) throws(LaunchPlanError) {
    var unresolved: [UnresolvedName] = []
    for (index, step) in steps.enumerated() {
      for mention in step.after {
        guard case .step(let other) = names.target(of: mention.id) else {
          unresolved.append(UnresolvedName(mention, of: names.ids[index], names.target(of: mention.id)))
          continue
        }
        dependencies[index].append(other)
      }
      for mention in step.before {
        guard case .step(let other) = names.target(of: mention.id) else {
          unresolved.append(UnresolvedName(mention, of: names.ids[index], names.target(of: mention.id)))
          continue
        }
        dependencies[other].append(index)
      }
    }
    if let error = UnresolvedName.error(unresolved, among: names.ids) { throw error }
  }

  private mutating func sort(_ steps: [LaunchStep], _ names: StepNames) throws(LaunchPlanError) {
    var open = dependencies.map(\.count)
    var dependents = Array(repeating: [Int](), count: steps.count)
    for (index, needed) in dependencies.enumerated() { for other in needed { dependents[other].append(index) } }
    var ready = StepHeap()
    for index in steps.indices where open[index] == 0 { ready.insert(index) }
    indices.reserveCapacity(steps.count)
    while let index = ready.popFirst() {
      indices.append(index)
      for dependent in dependents[index] {
        open[dependent] -= 1
        if open[dependent] == 0 { ready.insert(dependent) }
      }
    }
    if indices.count < steps.count {
      throw StepCycle(in: dependencies, among: open.indices.filter { open[$0] > 0 }).error(steps, names)
    }
  }
}
