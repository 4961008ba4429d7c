internal import Support

// These messages tell which registrations come close to a request that nothing serves, and what to write.

extension InitializerRegistry {
  /// Returns the error for a request that no registration serves.
  ///
  /// - Parameter advice: The sentence that says what to write; nil to advise the usual registration.
  func missing(_ request: borrowing Request, advice: String? = nil) -> InjectionError {
    missing(
      request.service, asked: request.step(), named: request.name, in: request.containerType, advice: advice)
  }

  package func missing(
    _ service: Service, asked step: InjectionStep, by asker: RegistrationRecord? = nil, named name: String? = nil,
    in containerType: (any AnyObject.Type)? = nil, advice: String? = nil
  ) -> InjectionError {
    let error = InjectionError(.notRegistered, through: [step])
    let current = InitializerRegistry.current
    if let elsewhere = current.registeredElsewhere(than: self, service, named: name, in: containerType) {
      return error.noting(elsewhere)
    }
    let advice = advice ?? Self.adviceToRegister(service.type, named: step.name)
    var notes = nearMatches(service.type, named: name, in: containerType, but: asker) + [advice]
    if self === InitializerRegistry.shared && context == .test {
      notes.append(
        "This is the shared registry. A detached task and a queue don't have that of a test: start a Task there.")
    }
    return notes.reduce(error) { $0.noting($1) }
  }

  private static func adviceToRegister(_ type: any Any.Type, named name: String?) -> String {
    let label = name.map { "named: \"\($0)\"" }
    guard let factory = type as? any FactoryType.Type else {
      let key = [TypeName.source(of: type), label].compactMap(\.self).joined(separator: ", ")
      return "Register it before it is asked for: registry.register(\(key)) { … }"
    }
    let types = factory.argumentTypes.map { TypeName.of($0, isNested: true) }
    let parameters = types.enumerated().map { "argument\(types.count == 1 ? "" : "\($0 + 1)"): \($1)" }
    let closure = """
      { (\((["resolver"] + parameters).joined(separator: ", "))) -> \(TypeName.of(factory.madeType, isNested: true)) in … }
      """
    let initializer = [label, ".factory \(closure)"].compactMap(\.self).joined(separator: ", ")
    return "Register a factory before it is asked for: registry.register(\(initializer))"
  }

  /// Returns advice if this registry, which is current, serves a service that another registry was asked for.
  private func registeredElsewhere(
    than asked: InitializerRegistry, _ service: Service, named name: String?, in containerType: (any AnyObject.Type)?
  ) -> String? {
    guard self !== asked, !asked.lineage.contains(where: { $0 === self }),
      let provider = provider(of: service, named: name, in: containerType)
    else { return nil }
    return """
      The registry that was asked isn't the current one, in which it is registered at \(provider.record.place). A property \
      asks the registry in which its object was made, and a value that is kept gets its dependencies from the registry \
      that keeps it. Make the object inside `registry.run { … }`, or give it a scope that isn't kept; to ask the current \
      registry at each read, write @Injected(.everyRead).
      """
  }

  private func nearMatches(
    _ type: any Any.Type, named name: String?, in containerType: (any AnyObject.Type)?, but asker: RegistrationRecord?
  ) -> [String] {
    let wanted = TypeName.of(type)
    let isSubtype = subtypes(of: type)
    func note(_ registration: RegistrationRecord) -> String? {
      if registration === asker { return nil }
      let isUnlimited = registration.isUnlimited && registration.service.key == nil && registration.service.type != type
      if isUnlimited && !registration.servesSupertypes && registration.serves(Service(type)) {
        return "An instance that would fit is registered at \(registration.place): add `as: .anySupertype` to it."
      }
      if isUnlimited, isSubtype(registration.service.type) {
        return """
          A \(type is any AnyObject.Type ? "subclass" : "conforming type"), \(registration.service.name), is registered at \
          \(registration.place): register it for \(wanted), with registry.register(\(TypeName.source(of: type))) { … }.
          """
      }
      let isSameType = registration.service == Service(type)
      if isSameType, let container = registration.container, let containerType, !container.includes(containerType),
        container.isSuperclass(of: containerType)
      {
        return """
          Registered for \(TypeName.of(container.type)) and not for its subclasses, at \(registration.place): add \
          `subclasses: true` to it.
          """
      }
      if registration.service.type != type && TypeName.of(registration.service.type) == wanted {
        return """
          Another type of that name, \(registration.service.qualifiedName), is registered at \(registration.place); asked for \
          is \(Service(type).qualifiedName).
          """
      }
      guard isSameType || TypeName.ofResult(type).isSimilar(to: TypeName.ofResult(registration.service.type)) else {
        return nil
      }
      let meant = isSameType ? registration.name.flatMap { name?.closestMatch(among: [$0.text]) } : nil
      return "Registered, but not for this: \(registration.summary), at \(registration.place)."
        + (meant.map { " Did you mean \"\($0)\"?" } ?? "")
    }
    var keys: Set<RegistrationRecord.Key> = []
    let registrations = lineage.flatMap { registry in
      registry.table.withLock { $0.representatives }.filter { note($0) != nil }
        .flatMap { record in registry.table.withLock { $0.all(like: record) } }
    }
    .filter { keys.insert($0.key).inserted }.sorted { $0.age < $1.age }.suffix(1_000)
    if registrations.count <= 5 { return registrations.compactMap(note) }
    let omitted = "\(registrations.count) registrations are similar; the rest are left out here."
    let meant = name?.closestMatch(among: registrations.lazy.compactMap { $0.name?.text })
    return registrations.filter { meant == nil || $0.name?.text == meant }.prefix(3).compactMap(note) + [omitted]
  }
}

extension TypeName {
  /// Returns the name of the values that a factory makes; for any other type, the name of the type.
  fileprivate static func ofResult(_ type: any Any.Type) -> String {
    of((type as? any FactoryType.Type)?.madeType ?? type)
  }
}

extension String {
  /// Returns whether one name may be a misspelling of the other, or contains the other.
  fileprivate func isSimilar(to other: String) -> Bool {
    let (mine, others) = (bareName, other.bareName)
    if min(mine.count, others.count) >= 3 && (mine.contains(others) || others.contains(mine)) { return true }
    return mine.editDistance(to: others) <= max(mine.count, others.count) / 4
  }

  /// The name in lower case, without `any` and without the arguments of a generic type.
  private var bareName: String {
    let name = hasPrefix("any ") ? dropFirst(4) : self[...]
    return name.prefix { $0 != "<" }.lowercased()
  }
}
