internal import SpellRegistry
internal import Support

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
