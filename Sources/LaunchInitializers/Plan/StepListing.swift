internal import Support

/// The listed steps as nodes, numbered as they are listed, and what waits for what.
struct StepListing {
  /// The first and the last node of a step or group: all of it lies between them.
  private struct Span {
    let begin: Int
    let end: Int
  }

  private(set) var nodes: [LaunchPlan.Node] = []
  /// From each node to those that it waits for.
  private(set) var dependencies: [StepGraph.Edge] = []
  /// From each node to those that it requires.
  private(set) var requirements: [StepGraph.Edge] = []

  /// The last node of each group, by its first.
  private var ends: [Int: Int] = [:]
  /// From the first node of each member of a group to that of the group.
  private var inner: [StepGraph.Edge] = []
  private let stage: ReleaseStage
  private var users: [(name: String, span: Span, references: [StepReference])] = []
  private var spans: [String: Span] = [:]
  /// The steps without an id, which get the names of their types after all ids are known.
  private var unnamed: [(index: Int, typeName: String)] = []
  private var types: [ObjectIdentifier: (name: String, nodes: [Int])] = [:]
  /// How many steps without an id have the name of a type.
  private var namesakes: [String: Int] = [:]

  init(stage: ReleaseStage) { self.stage = stage }

  // MARK: Listing

  /// Adds the steps of the sequence.
  mutating func add(_ listed: [LaunchStep]) throws(LaunchPlanError) {
    _ = try add(listed, in: nil)
  }

  /// A group that steps are added to.
  private struct Group {
    let declared: LaunchStep.Declaration
    let begin: Int
    /// The names of the groups around it and its own.
    let path: [String]
  }

  /// Adds a list; returns the spans of its entries.
  private mutating func add(_ listed: [LaunchStep], in group: Group?) throws(LaunchPlanError) -> [Span] {
    var spans: [Span] = []
    // Deferred steps form a line of their own.
    var (former, formerDeferred): (Int?, Int?)
    for step in listed {
      let declared = group.map { step.inheriting(from: $0.declared).declared } ?? step.declared
      let span = try add(step, declared, path: group?.path ?? [])
      if let group {
        inner.append((span.begin, group.begin))
        requirements.append((span.begin, group.begin))
      }
      if !declared.declaresOrder {
        if let other = declared.isDeferred ? formerDeferred : former { dependencies.append((span.begin, other)) }
        if declared.isDeferred { formerDeferred = span.end } else { former = span.end }
      }
      spans.append(span)
    }
    return spans
  }

  private mutating func add(
    _ step: LaunchStep, _ declared: LaunchStep.Declaration, path: [String]
  ) throws(LaunchPlanError) -> Span {
    let begin = nodes.count
    guard let members = declared.members else {
      let type = type(of: declared)
      nodes.append(
        LaunchPlan.Node(
          declared.id ?? type, declared, groups: path, isDeferred: declared.isDeferred,
          exclusion: Self.exclusion(for: declared.stages, in: stage)))
      let span = Span(begin: begin, end: begin)
      if let id = declared.id { try name(span, id) } else { unnamed.append((begin, type)) }
      if !declared.references.isEmpty { users.append((step.description, span, declared.references)) }
      return span
    }
    let name = step.description
    let group = Group(declared: declared, begin: begin, path: path + [name])
    nodes.append(LaunchPlan.Node(name, nil, groups: group.path, isDeferred: declared.isDeferred))
    let spans = try add(members, in: group)
    let span = Span(begin: begin, end: nodes.count)
    ends[begin] = span.end
    nodes.append(LaunchPlan.Node(name, nil, groups: group.path, isDeferred: declared.isDeferred))
    dependencies.append((span.end, begin))
    requirements.append((span.end, begin))
    for member in spans where declared.isDeferred || !nodes[member.end].isDeferred {
      dependencies.append((span.end, member.end))
      requirements.append((span.end, member.end))
    }
    try self.name(span, name)
    if !declared.references.isEmpty { users.append((name, span, declared.references)) }
    return span
  }

  private mutating func name(_ span: Span, _ name: String) throws(LaunchPlanError) {
    if spans.updateValue(span, forKey: name) == nil { return }
    throw LaunchPlanError(
      .duplicateID, path: [name], "Two steps or groups have the id \(name.quoted). Give one of them another id.")
  }

  /// Returns the name of a step's type, and notes that the step has it. A type's name is looked up once.
  private mutating func type(of declared: LaunchStep.Declaration) -> String {
    let type = declared.work.type
    let name = types[ObjectIdentifier(type)]?.name ?? "\(type)"
    types[ObjectIdentifier(type), default: (name, [])].nodes.append(nodes.count)
    return name
  }

  private static func exclusion(for stages: Set<ReleaseStage>?, in stage: ReleaseStage) -> String? {
    guard let stages, !stages.contains(stage) else { return nil }
    let names = stages.map(\.rawValue).sorted().joined(separator: ", ")
    return "only in \(names.isEmpty ? "no stage" : names), and this is \(stage)"
  }

  // MARK: Names and references

  /// Names the steps without an id, resolves the references, and lets the deferred steps wait for the others.
  mutating func finish() throws(LaunchPlanError) {
    if !nodes.contains(where: { $0.declared != nil }) {
      throw LaunchPlanError(
        .empty, "A launch sequence has no steps. List at least one, or don't create the sequence.")
    }
    for (index, typeName) in unnamed {
      namesakes[typeName, default: 0] += 1
      var number = namesakes[typeName, default: 1]
      var id = number == 1 ? typeName : "\(typeName) #\(number)"
      while spans[id] != nil {
        number += 1
        id = "\(typeName) #\(number)"
      }
      spans[id] = Span(begin: index, end: index)
      if id == typeName { continue }
      let node = nodes[index]
      nodes[index] = LaunchPlan.Node(
        id, node.declared, groups: node.groups, isDeferred: node.isDeferred, exclusion: node.exclusion)
    }
    for user in users {
      for reference in user.references {
        guard let target = try target(of: reference, by: user.name) else { continue }
        try add(reference, from: user.span, user.name, to: target)
      }
    }
    addBeginnings()
    try addDeferral()
  }

  /// Lets those members of groups wait for the groups' beginnings that wait for no other member.
  private mutating func addBeginnings() {
    if inner.isEmpty { return }
    var groups = Array(repeating: -1, count: nodes.count)
    for edge in inner { groups[edge.from] = edge.to }
    var waits = Array(repeating: false, count: nodes.count)
    // What a member waits for is in the group if it is listed after the group's beginning and before its end.
    for (node, other) in dependencies
    where groups[node] >= 0 && other > groups[node] && other < ends[groups[node], default: 0] {
      waits[node] = true
    }
    dependencies += inner.filter { !waits[$0.from] }
  }

  /// Returns what a reference is to; nil if the sequence doesn't have it, and needn't.
  private func target(of reference: StepReference, by user: String) throws(LaunchPlanError) -> Span? {
    let name = reference.name
    switch reference.target {
    case .id(let id):
      let count = namesakes[id] ?? 1
      if let span = spans[id], count == 1 { return span }
      if reference.relation == .afterIfPresent, count == 1 { return nil }
      if count > 1 {
        throw LaunchPlanError(
          .duplicateID, path: [user, name],
          """
          \(user.quoted) refers to \(name.quoted), and \(count) steps without an id are of that type. Give the step that \
          you mean an id.
          """)
      }
      let near = name.closestMatch(among: spans.keys).map { " Did you mean \($0.quoted)?" } ?? " Give one this id."
      throw LaunchPlanError(
        .unknownDependency, path: [user, name],
        "\(user.quoted) refers to \(name.quoted), and no step or group has that id.\(near)")
    case .type(let type, _):
      let found = types[type]?.nodes ?? []
      if found.count == 1 { return Span(begin: found[0], end: found[0]) }
      throw LaunchPlanError(
        found.isEmpty ? .unknownDependency : .duplicateID, path: [user, name],
        found.isEmpty
          ? "\(user.quoted) refers to \(name).self, and no step is of that type. List one: \(name)()."
          : """
          \(user.quoted) refers to \(name).self, and \(found.count) steps are of that type. Refer to one of them by its id.
          """)
    }
  }

  private mutating func add(
    _ reference: StepReference, from user: Span, _ name: String, to target: Span
  ) throws(LaunchPlanError) {
    if user.begin <= target.end, target.begin <= user.end,
      nodes[user.begin].declared == nil || user.begin != target.begin
    {
      throw LaunchPlanError(
        .cycle, path: [name, reference.name, name],
        """
        \(name.quoted) refers to \(reference.name.quoted), and one of them is a group that has the other in it, so \
        neither can wait for the other. Refer to steps of the group.
        """)
    }
    let (waiting, awaited) = reference.relation == .before ? (target, user) : (user, target)
    dependencies.append((waiting.begin, awaited.end))
    if reference.relation == .requires { requirements.append((waiting.begin, awaited.end)) }
  }

  /// Adds the node that waits for all steps of the launch, and that the deferred steps wait for.
  private mutating func addDeferral() throws(LaunchPlanError) {
    guard nodes.contains(where: \.isDeferred) else { return }
    for (node, other) in dependencies where nodes[other].isDeferred && !nodes[node].isDeferred {
      throw LaunchPlanError(
        .deferredDependency, path: [nodes[node].id, nodes[other].id],
        """
        \(nodes[node].id.quoted) waits for \(nodes[other].id.quoted), which is deferred until the launch is over. Add \
        .deferred() to \(nodes[node].id.quoted), or remove it from \(nodes[other].id.quoted).
        """)
    }
    let end = nodes.count
    for index in nodes.indices {
      dependencies.append(nodes[index].isDeferred ? (index, end) : (end, index))
    }
    nodes.append(LaunchPlan.Node("", nil, groups: [], isDeferred: false))
  }

  // MARK: Order

  /// Returns the nodes in the order in which they are listed, but each one after those that it waits for.
  func order(by dependencies: StepGraph) throws(LaunchPlanError) -> [Int] {
    var order: [Int] = []
    order.reserveCapacity(nodes.count)
    /// For each node how many of those that it waits for have been looked at; -1 before the first, and when all have been.
    var looked = Array(repeating: -1, count: nodes.count)
    var isOrdered = Array(repeating: false, count: nodes.count)
    // The nodes from the one that is listed next to the one that is looked at, of which each waits for the next.
    var path: [Int] = []
    for listed in nodes.indices where !isOrdered[listed] {
      path.append(listed)
      while let node = path.last {
        looked[node] += 1
        let awaited = dependencies[node]
        if looked[node] == awaited.count {
          isOrdered[node] = true
          order.append(node)
          path.removeLast()
        } else {
          let next = awaited[awaited.startIndex + looked[node]]
          if isOrdered[next] { continue }
          if looked[next] >= 0, let start = path.firstIndex(of: next) { throw cycleError(Array(path[start...])) }
          path.append(next)
        }
      }
    }
    return order
  }

  /// The error about nodes of which each waits for the next, and the last for the first.
  private func cycleError(_ cycle: [Int]) -> LaunchPlanError {
    let steps = cycle.filter { nodes[$0].declared != nil }
    let shown = steps.isEmpty ? cycle : steps
    let first = shown.indices.min { shown[$0] < shown[$1] } ?? 0
    let path = (shown[first...] + shown[..<first] + shown[first...first]).map { nodes[$0].id }
    if path.count == 2 {
      return LaunchPlanError(.cycle, path: path, "\(path[0].quoted) waits for itself, so it can never begin.")
    }
    let names = path.map(\.escaped)
    let listed = names.count > 12 ? names.prefix(6) + ["(\(names.count - 9) more)"] + names.suffix(3) : names[...]
    let isInLine = cycle.contains { nodes[$0].declared?.declaresOrder == false }
    let advice = isInLine ? " A step listed after another one waits for it; .after() without an id removes that." : ""
    return LaunchPlanError(
      .cycle, path: path,
      """
      Each of these steps waits for the next, so none of them can ever begin: \(listed.joined(separator: " → ")). \
      Remove one .after, .requires or .before.\(advice)
      """)
  }
}
