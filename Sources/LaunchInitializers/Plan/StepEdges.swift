internal import SpellRegistry
internal import Support

/// Which listed step waits for which, and which it requires.
struct StepEdges {
  /// From each step to those that it waits for.
  private(set) var dependencies: [StepGraph.Edge] = []
  /// From each step to those that it requires.
  private(set) var requirements: [StepGraph.Edge] = []
  let hasDeferred: Bool
  private let listing: StepListing
  private let ids: [String]

  init(_ listing: StepListing, _ names: inout StepNames) throws(LaunchPlanError) {
    (self.listing, ids) = (listing, names.ids)
    hasDeferred = listing.steps.contains { $0.declared.isDeferred }
    dependencies.reserveCapacity(listing.steps.count)
    var groupReferences: [GroupReference] = []
    for index in listing.steps.indices {
      for reference in listing.steps[index].declared.references {
        guard let target = names.steps(for: reference, of: ids[index]) else { continue }
        if target.count == 1 {
          add(reference.relation, from: CollectionOfOne(index), to: CollectionOfOne(target.lowerBound))
        } else {
          groupReferences.append(GroupReference(user: index..<index + 1, name: ids[index], reference, target))
        }
      }
    }
    for group in listing.groups {
      for reference in group.listed.declared.references {
        guard let target = names.steps(for: reference, of: group.name) else { continue }
        groupReferences.append(GroupReference(user: group.steps, name: group.name, reference, target))
      }
    }
    try names.checkResolved()
    var groupSuccessions: [StepListing.Succession] = []
    for succession in listing.successions {
      if succession.former.count == 1, succession.latter.count == 1 {
        dependencies.append((succession.latter.lowerBound, succession.former.lowerBound))
      } else {
        groupSuccessions.append(succession)
      }
    }
    if !listing.groups.isEmpty { try add(groupReferences, groupSuccessions) }
    if hasDeferred { try checkDeferred() }
  }

  private mutating func add(
    _ relation: StepReference.Relation, from users: some Sequence<Int>, to targets: some Sequence<Int>
  ) {
    for user in users {
      for target in targets {
        dependencies.append(relation == .before ? (target, user) : (user, target))
        if relation == .requires { requirements.append((user, target)) }
      }
    }
  }

  /// A step of the launch can't wait for one that begins after the launch.
  private func checkDeferred() throws(LaunchPlanError) {
    let steps = listing.steps
    for (step, other) in dependencies where steps[other].declared.isDeferred && !steps[step].declared.isDeferred {
      throw LaunchPlanError(
        .deferredDependency, path: [ids[step], ids[other]], location: steps[step].declared.location,
        """
        \(ids[step].quoted) waits for \(ids[other].quoted), which is deferred until the launch is over. Add \
        .deferred() to \(ids[step].quoted), or remove it from \(ids[other].quoted).
        """)
    }
  }
}

// MARK: Groups

extension StepEdges {
  /// A reference to a group, or of one.
  private struct GroupReference {
    let user: Range<Int>
    let name: String
    let reference: StepReference
    let target: Range<Int>

    init(user: Range<Int>, name: String, _ reference: StepReference, _ target: Range<Int>) {
      (self.user, self.name, self.reference, self.target) = (user, name, reference, target)
    }
  }

  /// Adds what groups wait for, and what waits for groups: for the first and last steps in them.
  private mutating func add(
    _ references: [GroupReference], _ successions: [StepListing.Succession]
  ) throws(LaunchPlanError) {
    var ends = GroupEnds(dependencies, listing)
    for group in references {
      let (user, target, relation) = (group.user, group.target, group.reference.relation)
      if user.isEmpty || target.isEmpty { continue }
      if user.overlaps(target) {
        throw LaunchPlanError(
          .cycle, path: [group.name, group.reference.name, group.name], location: group.reference.location,
          """
          \(group.name.quoted) refers to \(group.reference.name.quoted), and one of them is a group that has the other in \
          it, so neither can wait for the other. Refer to steps of the group.
          """)
      }
      let isBefore = relation == .before
      let (waiting, awaited) = isBefore ? (target, user) : (user, target)
      let (firsts, lasts) = (ends.of(waiting).first, ends.of(awaited).last)
      add(.after, from: firsts, to: lasts)
      if relation == .requires {
        for step in user { for required in target { requirements.append((step, required)) } }
      }
    }
    for succession in successions {
      let former = ends.of(succession.former, isDeferred: succession.isDeferred)
      let latter = ends.of(succession.latter, isDeferred: succession.isDeferred)
      add(.after, from: latter.first, to: former.last)
    }
  }

  /// The steps of a group that wait for no other step of it, and those that no other one waits for.
  ///
  /// Found among the dependencies between single steps. More may be found than there are in the end, which costs
  /// dependencies and changes nothing.
  private struct GroupEnds {
    private struct Members: Hashable {
      let steps: Range<Int>
      /// Whether only the deferred steps are meant, or only the others; nil for all.
      let isDeferred: Bool?
    }
    typealias Ends = (first: [Int], last: [Int])

    private let steps: [LaunchStep]
    private let dependencies: StepGraph
    private let dependents: StepGraph
    private var known: [Members: Ends] = [:]

    init(_ edges: [StepGraph.Edge], _ listing: StepListing) {
      steps = listing.steps
      dependencies = StepGraph(edges, count: steps.count)
      dependents = dependencies.inverted()
    }

    mutating func of(_ range: Range<Int>, isDeferred: Bool? = nil) -> Ends {
      let members = Members(steps: range, isDeferred: isDeferred)
      if let ends = known[members] { return ends }
      func isMember(_ step: Int) -> Bool {
        range.contains(step) && isDeferred.map { steps[step].declared.isDeferred == $0 } ?? true
      }
      let ends = (
        first: range.filter { isMember($0) && !dependencies[$0].contains(where: isMember) },
        last: range.filter { isMember($0) && !dependents[$0].contains(where: isMember) }
      )
      known[members] = ends
      return ends
    }
  }
}

// MARK: Listing

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

// MARK: Names

/// The ids of the listed steps, the names of the groups, and the steps that references are to.
struct StepNames {
  /// The id of each step.
  private(set) var ids: [String] = []
  private let groups: [StepListing.Group]
  private enum Target {
    case step(Int)
    case group(Int)
  }
  private var targets: [String: Target] = [:]
  /// For each type's name the number of steps without an id that have it, and the first of them.
  private var unnamed: [String: (count: Int, first: Int)] = [:]
  private var types: [ObjectIdentifier: [Int]] = [:]
  private var unresolved: [(reference: StepReference, user: String, count: Int)] = []

  init(_ listing: StepListing) throws(LaunchPlanError) {
    let steps = listing.steps
    groups = listing.groups
    targets.reserveCapacity(steps.count + groups.count)
    for (index, group) in groups.enumerated() {
      try add(group.name, at: group.location, .group(index), steps)
    }
    for index in steps.indices {
      if let id = steps[index].declared.id { try add(id.name, at: id.location, .step(index), steps) }
    }
    ids.reserveCapacity(steps.count)
    var typeNames: [ObjectIdentifier: String] = [:]
    for index in steps.indices {
      ids.append(steps[index].declared.id?.name ?? id(index, type(of: steps[index].declared.initializer), &typeNames))
    }
    let references = steps.lazy.map(\.declared.references) + groups.lazy.map(\.listed.declared.references)
    guard references.contains(where: { $0.contains(where: \.isToType) }) else { return }
    for index in steps.indices {
      types[ObjectIdentifier(type(of: steps[index].declared.initializer)), default: []].append(index)
    }
  }

  private mutating func add(
    _ name: String, at location: SourcePlace?, _ target: Target, _ steps: [LaunchStep]
  ) throws(LaunchPlanError) {
    guard let former = targets.updateValue(target, forKey: name) else { return }
    let (what, other) =
      switch (former, target) {
      case (.step(let other), _): ("Two steps", steps[other].declared.id?.location)
      case (.group(let other), .group): ("Two groups", groups[other].location)
      case (.group(let other), .step): ("A group and a step", groups[other].location)
      }
    throw LaunchPlanError(
      .duplicateID, path: [name], location: location,
      """
      \(what) have the id \(name.quoted)\(other.map { "; the other one is at \($0)" } ?? ""). Give one of them another id.
      """)
  }

  /// The type's name, with a number if that is taken.
  private mutating func id(
    _ index: Int, _ type: any Initializable.Type, _ typeNames: inout [ObjectIdentifier: String]
  ) -> String {
    let typeName = typeNames[ObjectIdentifier(type)] ?? TypeName.of(type)
    typeNames[ObjectIdentifier(type)] = typeName
    let former = unnamed[typeName] ?? (0, index)
    unnamed[typeName] = (former.count + 1, former.first)
    var number = former.count + 1
    var id = number == 1 ? typeName : "\(typeName) #\(number)"
    while targets[id] != nil {
      number += 1
      id = "\(typeName) #\(number)"
    }
    targets[id] = .step(index)
    return id
  }
}

// MARK: References

extension StepNames {
  /// Returns the steps that a reference is to: one step, or those of a group.
  ///
  /// - Parameter user: The step or group that refers to them.
  /// - Returns: Nil if there are none or the reference is ambiguous; ``checkResolved()`` then throws.
  mutating func steps(for reference: StepReference, of user: String) -> Range<Int>? {
    var count = 0
    switch reference.target {
    case .id(let id):
      switch targets[id] {
      case nil: break
      case .group(let index)?: return groups[index].steps
      case .step(let index)?:
        guard let same = unnamed[id], same.count > 1, same.first == index else { return index..<index + 1 }
        count = same.count
      }
    case .type(let type):
      let steps = types[ObjectIdentifier(type)] ?? []
      if steps.count == 1 { return steps[0]..<steps[0] + 1 }
      count = steps.count
    }
    if reference.relation != .afterIfPresent || count > 1 { unresolved.append((reference, user, count)) }
    return nil
  }

  /// The number of unresolved references that an error describes in full.
  private static let limit = 5

  /// Throws one error for all the references that could not be resolved.
  func checkResolved() throws(LaunchPlanError) {
    guard let first = unresolved.first else { return }
    var lines = unresolved.prefix(Self.limit).enumerated().map { index, mistake in
      (index == 0 ? "" : "\(mistake.reference.location): ")
        + sentence(about: mistake.reference, of: mistake.user, count: mistake.count)
    }
    if unresolved.count > Self.limit {
      lines.append("There are \(unresolved.count - Self.limit) more references of that kind.")
    }
    throw LaunchPlanError(
      first.count > 1 ? .duplicateID : .unknownDependency, path: [first.user, first.reference.name],
      location: first.reference.location, lines.joined(separator: "\n"))
  }

  private func sentence(about reference: StepReference, of user: String, count: Int) -> String {
    let name = reference.name
    if reference.isToType {
      return count > 1
        ? "\(user.quoted) refers to \(name).self, and \(count) steps are of that type. Refer to one of them by its id."
        : "\(user.quoted) refers to \(name).self, and no step is of that type. List one: \(name)()."
    }
    if count > 1 {
      return """
        \(user.quoted) refers to \(name.quoted), and \(count) steps without an id are of that type. Give the step that you \
        mean an id.
        """
    }
    let near = name.closestMatch(among: ids + groups.map(\.name)).map { " Did you mean \($0.quoted)?" }
    return "\(user.quoted) refers to \(name.quoted), and no step or group has that id.\(near ?? " Give one this id.")"
  }
}

extension StepReference {
  fileprivate var isToType: Bool { if case .type = target { true } else { false } }
}
