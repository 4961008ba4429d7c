internal import SpellRegistry

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
