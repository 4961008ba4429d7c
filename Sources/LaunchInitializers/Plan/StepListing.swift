internal import Support

/// The nodes and dependencies of the listed steps, with nodes numbered in the order of the list.
struct StepListing {
  /// The range from the first to the last node of a step or group.
  private typealias Span = ClosedRange<Int>
  private struct Group {
    let declared: LaunchStep.Declaration
    let name: String
    let begin: Int
    let path: [String]
  }

  /// A list that is being added to `nodes`: the steps of one group or of the whole sequence.
  private struct OpenList {
    private let listed: [LaunchStep]
    private var index = 0
    let group: Group?
    /// For each entry that has been added, the range of its nodes.
    var spans: [Span] = []
    /// The last node of the latest entry that isn't deferred, and the last node of the latest deferred entry.
    ///
    /// Entries that declare an order don't count.
    var (former, formerDeferred): (Int?, Int?)

    init(_ listed: [LaunchStep], of group: Group?) { (self.listed, self.group) = (listed, group) }

    mutating func next() -> LaunchStep? {
      guard index < listed.count else { return nil }
      defer { index += 1 }
      return listed[index]
    }
  }

  private(set) var nodes: [LaunchPlan.Node] = []
  /// The edges from each node to the nodes that it waits for.
  private(set) var dependencies: [StepGraph.Edge] = []
  /// The edges from each node to the nodes that it requires.
  private(set) var requirements: [StepGraph.Edge] = []

  /// The index of the node that the deferred steps wait for, and that waits for all other steps; nil if no step is
  /// deferred.
  private(set) var deferral: Int?

  private let stage: ReleaseStage
  private var spans: [String: Span] = [:]
  private var users: [(name: String, span: Span, references: [StepReference])] = []
  /// The indices of the steps without an ID, which are named after their types once all IDs are known.
  private var unnamed: [Int] = []
  /// The number of steps without an ID, by the name of their type.
  private var namesakes: [String: Int] = [:]

  init(_ listed: [LaunchStep], stage: ReleaseStage) throws(LaunchPlanError) {
    self.stage = stage
    try add(listed)
    if !nodes.contains(where: { $0.declared != nil }) {
      throw LaunchPlanError(.empty, "A launch sequence has no steps. List at least one, or don't create the sequence.")
    }
    nameTheRest()
    for user in users {
      for reference in user.references { try add(reference, of: user.name, user.span) }
    }
    try addDeferral()
  }

  /// Adds the entries of the sequence's list and of its groups' lists.
  ///
  /// The method isn't recursive, because groups may be nested so deep that a thread's stack would overflow.
  private mutating func add(_ listed: [LaunchStep]) throws(LaunchPlanError) {
    var lists = [OpenList(listed, of: nil)]
    while true {
      let top = lists.count - 1
      guard let step = lists[top].next() else {
        let list = lists.removeLast()
        guard let group = list.group else { return }
        let span = try end(group, list.spans)
        record(span, of: group.declared, named: group.name, in: &lists[top - 1])
        continue
      }
      let group = lists[top].group
      let declared = group.map { step.inheriting(from: $0.declared).declared } ?? step.declared
      if let members = declared.members {
        let inner = begin(declared, named: step.description, path: group?.path ?? [])
        lists.append(OpenList(members, of: inner))
      } else {
        let span = try add(declared, path: group?.path ?? [])
        record(span, of: declared, named: step.description, in: &lists[top])
      }
    }
  }

  private mutating func add(
    _ declared: LaunchStep.Declaration, path: [String]
  ) throws(LaunchPlanError) -> Span {
    let node = nodes.count
    nodes.append(LaunchPlan.Node(declared.id ?? "\(declared.work.type)", declared, groups: path, in: stage))
    if let id = declared.id { try name(node...node, id) } else { unnamed.append(node) }
    return node...node
  }

  private mutating func begin(_ declared: LaunchStep.Declaration, named name: String, path: [String]) -> Group {
    let point = LaunchPlan.Node(name, declared, groups: path + [name], in: stage)
    nodes.append(point)
    return Group(declared: declared, name: name, begin: nodes.count - 1, path: point.groups)
  }

  private mutating func end(_ group: Group, _ spans: [Span]) throws(LaunchPlanError) -> Span {
    let end = nodes.count
    nodes.append(nodes[group.begin])
    addRequirement(end, group.begin)
    for span in spans where group.declared.isDeferred || !nodes[span.upperBound].isDeferred {
      addRequirement(end, span.upperBound)
    }
    try name(group.begin...end, group.name)
    return group.begin...end
  }

  /// Adds the dependencies of a step or group, and records the step or group as an entry of a list.
  private mutating func record(
    _ span: Span, of declared: LaunchStep.Declaration, named name: String, in list: inout OpenList
  ) {
    if let group = list.group { addRequirement(span.lowerBound, group.begin) }
    if !declared.references.isEmpty { users.append((name, span, declared.references)) }
    if !declared.declaresOrder {
      // An entry without a declared order waits for the previous entry of the list without a declared order. Deferred
      // entries form a chain of their own. `addDeferral()` makes the deferred steps wait for all other steps.
      if let other = declared.isDeferred ? list.formerDeferred : list.former {
        dependencies.append((span.lowerBound, other))
      }
      if declared.isDeferred { list.formerDeferred = span.upperBound } else { list.former = span.upperBound }
    }
    list.spans.append(span)
  }

  private mutating func addRequirement(_ node: Int, _ required: Int) {
    dependencies.append((node, required))
    requirements.append((node, required))
  }

  private mutating func name(_ span: Span, _ name: String) throws(LaunchPlanError) {
    if spans.updateValue(span, forKey: name) == nil { return }
    throw LaunchPlanError(
      .duplicateID, path: [name], "Two steps or groups have the id \(name.quoted). Give one of them another id.")
  }

  /// Gives each step without an ID the name of its type, with a number if the name is taken.
  private mutating func nameTheRest() {
    for index in unnamed {
      let (node, name) = (nodes[index], nodes[index].id)
      namesakes[name, default: 0] += 1
      var (id, number) = (name, namesakes[name, default: 1])
      if number > 1 { id = "\(name) #\(number)" }
      while spans[id] != nil {
        number += 1
        id = "\(name) #\(number)"
      }
      spans[id] = index...index
      if id != name { nodes[index] = LaunchPlan.Node(id, node.declared, groups: node.groups, in: stage) }
    }
  }

  private mutating func add(_ reference: StepReference, of user: String, _ span: Span) throws(LaunchPlanError) {
    let (id, target) = (reference.id, spans[reference.id])
    // The name of a type is ambiguous if several steps without an ID are of that type, unless another step or group
    // declares the name as its ID.
    if let count = namesakes[id], count > 1, let target, unnamed.contains(target.lowerBound) {
      throw LaunchPlanError(
        .duplicateID, path: [user, id],
        "\(user.quoted) refers to \(id.quoted), and \(count) steps without an id are of that type. Give the step an id."
      )
    }
    guard let target else {
      let others = spans.filter { !$0.value.overlaps(span) }.map(\.key)
      let near = id.closestMatch(among: others).map { "Did you mean \($0.quoted)?" } ?? "Give one this id."
      throw LaunchPlanError(
        .unknownDependency, path: [user, id],
        "\(user.quoted) refers to \(id.quoted), and no step or group has that id. \(near)")
    }
    if target != span, target.overlaps(span) {
      throw LaunchPlanError(
        .cycle, path: [user, id, user],
        "\(user.quoted) refers to \(id.quoted), and one of them is a group with the other in it. Refer to its steps.")
    }
    let (waiting, awaited) = reference.relation == .before ? (target, span) : (span, target)
    dependencies.append((waiting.lowerBound, awaited.upperBound))
    if reference.relation == .requires { requirements.append((waiting.lowerBound, awaited.upperBound)) }
  }

  /// Adds the node that separates the steps of the launch from the deferred steps, if a step is deferred.
  private mutating func addDeferral() throws(LaunchPlanError) {
    guard nodes.contains(where: \.isDeferred) else { return }
    for (node, other) in dependencies where nodes[other].isDeferred && !nodes[node].isDeferred {
      let (id, deferred) = (nodes[node].id, nodes[other].id)
      throw LaunchPlanError(
        .deferredDependency, path: [id, deferred],
        "\(id.quoted) waits for \(deferred.quoted), which is deferred. Add .deferred() to \(id.quoted), or remove it there."
      )
    }
    let point = nodes.count
    for index in nodes.indices { dependencies.append(nodes[index].isDeferred ? (index, point) : (point, index)) }
    nodes.append(LaunchPlan.Node("", nil, groups: [], in: stage, isDeferral: true))
    deferral = point
  }

  /// Returns the nodes in the order of the list, except that each node comes after the nodes that it waits for.
  func order(by dependencies: StepGraph) throws(LaunchPlanError) -> [Int] {
    var order: [Int] = []
    order.reserveCapacity(nodes.count)
    // For each node, the number of its dependencies that have been visited, and whether the node is on `path`.
    var looked = Array(repeating: 0, count: nodes.count)
    var isOnPath = Array(repeating: false, count: nodes.count)
    var isOrdered = isOnPath
    // The path of the depth-first search, on which each node waits for the next node.
    var path: [Int] = []
    for listed in nodes.indices where !isOrdered[listed] {
      path.append(listed)
      isOnPath[listed] = true
      while let node = path.last {
        let awaited = dependencies[node]
        if looked[node] == awaited.count {
          (isOrdered[node], isOnPath[node]) = (true, false)
          order.append(node)
          path.removeLast()
          continue
        }
        let next = awaited[awaited.startIndex + looked[node]]
        looked[node] += 1
        if isOnPath[next] { throw cycleError(path.drop { $0 != next }) }
        if isOrdered[next] { continue }
        path.append(next)
        isOnPath[next] = true
      }
    }
    return order
  }

  /// Returns the error about a cycle, in which each node waits for the next node, and the last waits for the first.
  private func cycleError(_ cycle: ArraySlice<Int>) -> LaunchPlanError {
    // The points at the beginning and the end of a group share one `Node` object.
    var known: Set<ObjectIdentifier> = []
    let named = cycle.filter { known.insert(ObjectIdentifier(nodes[$0])).inserted }
    let first = named.indices.min { named[$0] < named[$1] } ?? 0
    let path = (named[first...] + named[..<first] + named[first...first]).map { nodes[$0].id }
    if path.count == 2 {
      return LaunchPlanError(.cycle, path: path, "\(path[0].quoted) waits for itself, so it can never begin.")
    }
    let names = path.map(\.escaped)
    let listed = names.count > 12 ? names.prefix(6) + ["(\(names.count - 9) more)"] + names.suffix(3) : names[...]
    return LaunchPlanError(
      .cycle, path: path,
      """
      Each of these waits for the next, so none of them can ever begin: \(listed.joined(separator: " → ")). Remove \
      one .after, .requires or .before, or add .after() to a step that waits because it is listed after another one.
      """)
  }
}
