internal import SpellRegistry

/// A name in `.after` or `.before` that is no step's, or several steps'.
struct UnresolvedName {
  private let mention: LaunchStep.Mention
  private let user: String
  private let target: StepNames.Target

  init(_ mention: LaunchStep.Mention, of user: String, _ target: StepNames.Target) {
    self.mention = mention
    self.user = user
    self.target = target
  }

  /// How many are told of in full: enough to see what happened, however many there are.
  private static let limit = 5

  /// One error for all of them; nil where there are none.
  static func error(_ names: [UnresolvedName], among ids: [String]) -> LaunchPlanError? {
    guard let first = names.first else { return nil }
    var lines = names.prefix(limit).enumerated().map { index, name in
      (index == 0 ? "" : "\(name.mention.place): ") + name.sentence(among: ids)
    }
    if names.count > limit { lines.append("And \(names.count - limit) more names like that.") }
    let code: LaunchPlanError.Code = if case .several = first.target { .duplicateID } else { .unknownDependency }
    return LaunchPlanError(
      code, path: [first.user, first.mention.id], place: first.mention.place.description,
      lines.joined(separator: "\n"))
  }

  private func sentence(among ids: [String]) -> String {
    if case .several(let count) = target {
      return """
        "\(user)" refers to "\(mention.id)", and \(count) steps without an id are of that type. Give the one that is \
        meant an id.
        """
    }
    let near = NearestName.to(mention.id, among: ids).map { " Did you mean \"\($0)\"?" }
    return "\"\(user)\" refers to \"\(mention.id)\", and there is no such step.\(near ?? " Give one this id.")"
  }
}
