internal import SpellRegistry

/// The names of the steps as they are written, each once.
struct StepNames {
  /// The name of each step.
  private(set) var ids: [String] = []
  private var indices: [String: Int] = [:]
  /// How many steps without a name have each type's name, and which came first.
  private var unnamed: [String: (count: Int, first: Int)] = [:]

  init(_ steps: [LaunchStep]) throws(LaunchPlanError) {
    indices.reserveCapacity(steps.count)
    for (index, step) in steps.enumerated() {
      guard let name = step.name else { continue }
      if let first = indices.updateValue(index, forKey: name.id), let former = steps[first].name {
        throw LaunchPlanError(
          .duplicateID, path: [name.id], place: name.place.description,
          "Two steps have the id \"\(name.id)\"; the other is at \(former.place). Give one of them another.")
      }
    }
    ids.reserveCapacity(steps.count)
    var typeNames: [ObjectIdentifier: String] = [:]
    for (index, step) in steps.enumerated() {
      ids.append(step.name?.id ?? name(index, after: type(of: step.initializer), &typeNames))
    }
  }

  /// The type's name; with a number where that is taken.
  private mutating func name(
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

  /// What a reference is to.
  enum Target {
    case step(Int)
    case none
    /// It is the name of a type, and there are several steps of it.
    case several(Int)
  }

  func target(of id: String) -> Target {
    if let index = indices[id] {
      if let same = unnamed[id], same.count > 1, same.first == index { return .several(same.count) }
      return .step(index)
    }
    return .none
  }
}
