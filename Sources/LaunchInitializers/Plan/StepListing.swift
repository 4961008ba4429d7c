internal import SpellRegistry

/// The steps of a sequence in the order listed, taken out of their groups; the groups, and what waits for what because it
/// is listed after it.
struct StepListing {
  struct Group {
    /// The group as it is listed.
    let listed: LaunchStep
    /// The steps in it, also those of groups in it.
    var steps: Range<Int>
    /// The names of the groups around it and its own, outermost first.
    let path: [String]

    var name: String { listed.description }
    var location: SourcePlace? { listed.declared.id?.location ?? listed.declared.location }
  }

  /// An entry of a list that waits for a former one: a step or a group, as the range of its steps.
  struct Succession {
    let former: Range<Int>
    let latter: Range<Int>
    /// Whether it is about the deferred steps in both, or about the others.
    let isDeferred: Bool
  }

  private(set) var steps: [LaunchStep] = []
  private(set) var groups: [Group] = []
  /// The group that each step is directly in, by its index in `groups`; empty if there are no groups.
  private var groupIndices: [Int?] = []
  private(set) var successions: [Succession] = []

  init(_ listed: [LaunchStep]) {
    if listed.contains(where: { $0.declared.members != nil }) {
      add(listed, in: nil)
    } else {
      steps = listed
      addSuccessions(among: listed.indices.lazy.filter { !listed[$0].declared.declaresOrder }.map { $0..<$0 + 1 })
    }
  }

  /// The names of the groups around a step, outermost first.
  func groups(of step: Int) -> [String] {
    groupIndices.isEmpty ? [] : groupIndices[step].map { groups[$0].path } ?? []
  }

  private mutating func add(_ listed: [LaunchStep], in group: Int?) {
    var entries: [Range<Int>] = []
    for step in listed {
      let start = steps.count
      let step = group.map { step.inheriting(from: groups[$0].listed) } ?? step
      if let members = step.declared.members {
        let index = groups.count
        let path = (group.map { groups[$0].path } ?? []) + [step.description]
        groups.append(Group(listed: step, steps: start..<start, path: path))
        add(members, in: index)
        groups[index].steps = start..<steps.count
      } else {
        steps.append(step)
        groupIndices.append(group)
      }
      if !step.declared.declaresOrder, steps.count > start { entries.append(start..<steps.count) }
    }
    addSuccessions(among: entries)
  }

  /// Makes each entry of a list wait for the one before it; deferred steps form a line of their own.
  private mutating func addSuccessions(among entries: [Range<Int>]) {
    for isDeferred in [false, true] {
      var former: Range<Int>?
      for entry in entries where entry.contains(where: { steps[$0].declared.isDeferred == isDeferred }) {
        if let former { successions.append(Succession(former: former, latter: entry, isDeferred: isDeferred)) }
        former = entry
      }
    }
  }
}
