internal import Support

// What to say when nothing is registered: what comes near, and what to write. It looks at every registration, so it runs
// when an error is described, not when it is thrown.

extension InitializerRegistry {
  /// The error for a type that nothing serves here.
  ///
  /// - Parameter advice: What to write; nil for the usual registration.
  package func missing(
    _ type: any Any.Type, step: InjectionStep, named name: String? = nil, advice: String? = nil
  ) -> InjectionError {
    // What is current is known now, and not any more when the error is described.
    let elsewhere = InitializerRegistry.current.registeredElsewhere(than: self, type)
    return InjectionError(.notRegistered, through: [step]) {
      if let elsewhere { return [elsewhere] }
      let advice = advice ?? "Register it before it is asked for: registry.register(\(TypeName.source(of: type))) { … }"
      return self.nearMatches(type, named: name) + [advice]
    }
  }

  /// What to say if this registry, which is current, serves a type that another registry was asked for.
  private func registeredElsewhere(than asked: InitializerRegistry, _ type: any Any.Type) -> String? {
    guard self !== asked, !asked.lineage.contains(where: { $0 === self }), let provider = provider(of: Service(type))
    else { return nil }
    return """
      The registry that was asked isn't the current one, in which it is registered at \(provider.record.place). A property \
      asks the registry in which its object was made, and a value that is kept gets its dependencies from the registry \
      that keeps it. Make the object inside `registry.run { … }`, or give it a scope that isn't kept; to ask the current \
      registry at each read, write @Injected(.everyRead).
      """
  }

  private func nearMatches(_ type: any Any.Type, named name: String?) -> [String] {
    let wanted = TypeName.of(type)
    let registrations = reachable(\.registrations).map(\.registration)
    let others = registrations.compactMap { registration -> String? in
      let isUnlimited = registration.key.isUnlimited && registration.service.key == nil && registration.type != type
      if isUnlimited && !registration.key.servesSupertypes && registration.serves(Service(type)) {
        return "An instance that would fit is registered at \(registration.place): add `as: .anySupertype` to it."
      }
      let isSameType = registration.service == Service(type)
      if registration.type != type && TypeName.of(registration.type) == wanted {
        return """
          Another type of that name, \(registration.service.qualifiedName), is registered at \(registration.place); asked for \
          is \(Service(type).qualifiedName).
          """
      }
      guard isSameType || wanted.isSimilar(to: TypeName.of(registration.type)) else { return nil }
      return "Registered, but not for this: \(registration.summary), at \(registration.place)."
    }
    if others.count <= 5 { return others }
    let omitted = "\(others.count) registrations are similar; the rest are left out here."
    let nearest = name.flatMap { name in
      registrations.filter { $0.service == Service(type) }
        .compactMap { other in other.key.name.map { (other, distance: $0.text.editDistance(to: name)) } }
        .min { $0.distance < $1.distance }?.0
    }
    if let nearest { return ["The nearest name is that of \(nearest.summary), at \(nearest.place).", omitted] }
    return others.prefix(3) + [omitted]
  }
}

extension RegistrationStorage {
  /// The registration in a few words: `Clock in Page named "backup"`.
  package var summary: String {
    var words = [service.name]
    if let container = key.container {
      words.append("in \(TypeName.of(container.type))\(container.subclasses ? " and its subclasses" : "")")
    }
    if let name = key.name { words.append("named \(name.source)") }
    if key.arguments != nil { words.append("with arguments") }
    return words.joined(separator: " ")
  }
}

extension String {
  /// Whether a person may have meant the one and written the other.
  fileprivate func isSimilar(to other: String) -> Bool {
    let (mine, others) = (bareName, other.bareName)
    if min(mine.count, others.count) >= 3 && (mine.contains(others) || others.contains(mine)) { return true }
    return mine.editDistance(to: others) <= max(mine.count, others.count) / 4
  }

  /// The name without `any` and without what a generic type is of.
  private var bareName: String {
    let name = hasPrefix("any ") ? dropFirst(4) : self[...]
    return name.prefix { $0 != "<" }.lowercased()
  }
}
