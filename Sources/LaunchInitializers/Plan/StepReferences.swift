internal import Support

internal import SpellRegistry

/// The ids of the listed steps, and the steps that references are to.
struct StepReferences {
  /// The id of each step.
  private(set) var ids: [String] = []
  private var indices: [String: Int] = [:]
  /// How many steps without an id have each type's name, and the first of them.
  private var unnamed: [String: (count: Int, first: Int)] = [:]
  private var types: [ObjectIdentifier: [Int]] = [:]
  private var unresolved: [(reference: StepReference, user: Int, count: Int)] = []

  init(_ steps: [LaunchStep]) throws(LaunchPlanError) {
    // By index throughout the plan: to take a step out of the array copies all its parts.
    indices.reserveCapacity(steps.count)
    for index in steps.indices {
      guard let id = steps[index].id else { continue }
      if let first = indices.updateValue(index, forKey: id.name), let former = steps[first].id {
        throw LaunchPlanError(
          .duplicateID, path: [id.name], place: id.place.description,
          "Two steps have the id \(id.name.quoted); the other is at \(former.place). Give one of them another id.")
      }
    }
    ids.reserveCapacity(steps.count)
    var typeNames: [ObjectIdentifier: String] = [:]
    for index in steps.indices {
      ids.append(steps[index].id?.name ?? id(index, after: type(of: steps[index].initializer), &typeNames))
    }
    let refersToTypes = steps.indices.contains { index in
      steps[index].references.contains { if case .type = $0.target { true } else { false } }
    }
    guard refersToTypes else { return }
    for index in steps.indices {
      types[ObjectIdentifier(type(of: steps[index].initializer)), default: []].append(index)
    }
  }

  /// The type's name, with a number if that is taken.
  private mutating func id(
    _ index: Int, after type: any Initializable.Type, _ typeNames: inout [ObjectIdentifier: String]
  ) -> String {
    let typeName = typeNames[ObjectIdentifier(type)] ?? TypeName.of(type)
    typeNames[ObjectIdentifier(type)] = typeName
    let former = unnamed[typeName] ?? (0, index)
    unnamed[typeName] = (former.count + 1, former.first)
    var number = former.count + 1
    var id = number == 1 ? typeName : "\(typeName) #\(number)"
    while indices[id] != nil {
      number += 1
      id = "\(typeName) #\(number)"
    }
    indices[id] = index
    return id
  }

  /// The step that a reference is to; nil if there is none, or several.
  ///
  /// ``checkResolved()`` then throws.
  mutating func step(for reference: StepReference, of user: Int) -> Int? {
    var count = 0
    switch reference.target {
    case .id(let id):
      guard let index = indices[id] else { break }
      guard let same = unnamed[id], same.count > 1, same.first == index else { return index }
      count = same.count
    case .type(let type):
      let steps = types[ObjectIdentifier(type)] ?? []
      if steps.count == 1 { return steps[0] }
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
      (index == 0 ? "" : "\(mistake.reference.place): ")
        + sentence(about: mistake.reference, of: ids[mistake.user], count: mistake.count)
    }
    if unresolved.count > Self.limit { lines.append("And \(unresolved.count - Self.limit) more references like that.") }
    throw LaunchPlanError(
      first.count > 1 ? .duplicateID : .unknownDependency, path: [ids[first.user], first.reference.name],
      place: first.reference.place.description, lines.joined(separator: "\n"))
  }

  private func sentence(about reference: StepReference, of user: String, count: Int) -> String {
    let name = reference.name
    if case .type = reference.target {
      return count > 1
        ? "\(user.quoted) refers to \(name).self, and \(count) steps are of that type. Refer to one of them by its id."
        : "\(user.quoted) refers to \(name).self, and no step is of that type. List one: \(name)()."
    }
    if count > 1 {
      return """
        \(user.quoted) refers to \(name.quoted), and \(count) steps without an id are of that type. Give the one that is \
        meant an id.
        """
    }
    let near = name.closestMatch(among: ids).map { " Did you mean \($0.quoted)?" }
    return "\(user.quoted) refers to \(name.quoted), and no step has that id.\(near ?? " Give one this id.")"
  }
}
