internal import Support

// The messages in this file list the registrations that are similar to a failed request, and tell the developer what to
// write.

extension InitializerRegistry {
  /// Returns the error for a request that no registration serves.
  ///
  /// - Parameter advice: The sentence that tells the developer what to write; nil to suggest a registration of the
  ///   requested type. If the current registry isn't this registry and can serve the request, the error says so
  ///   instead.
  func missing(_ request: borrowing Request, advice: String? = nil) -> InjectionError {
    let point = request.point.withKnownName()
    return missing(
      request.service, asked: point.step(), named: point.propertyName, in: point.containerType, advice: advice)
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
    let advice = advice ?? adviceOnArray(service.type) ?? Self.adviceToRegister(service.type, named: step.name)
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

  /// Returns advice if this registry, the current one, can serve the request that `asked` can't serve; nil otherwise.
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

  /// Returns the error of an initializer, with an explanation if it ran in a parent and only this registry has what it needs.
  func explained(
    _ error: InjectionError, madeBy record: RegistrationRecord, in maker: InitializerRegistry
  ) -> InjectionError {
    guard maker !== self, error.code == .notRegistered, let step = error.steps.last,
      let nearer = provider(of: step.service)?.record
    else { return error }
    return error.noting(
      """
      \(step.typeName) is registered at \(nearer.place), in a child of the registry that keeps \(record.service.name). What \
      a parent keeps gets its dependencies from the parent: register \(step.typeName) there, or give \
      \(record.service.name) the scope .unique.
      """)
  }

  /// Returns notes on the registrations that resemble a failed request, which one of them may have been meant to serve.
  ///
  /// If there are more than five, the result has the newest three, preferably with a similar name, and their number.
  ///
  /// - Parameter asker: The registration whose initializer made the request; it is left out.
  private func nearMatches(
    _ type: any Any.Type, named name: String?, in containerType: (any AnyObject.Type)?, but asker: RegistrationRecord?
  ) -> [String] {
    let search = NearMatches(type, named: name, in: containerType)
    let near = lineage.flatMap { owner in
      owner.table.read { $0.representatives }.filter { $0 !== asker && search.relation(to: $0) != nil }
        .flatMap { record in owner.table.read { $0.all(like: record) } }.filter { !isOverridden($0, of: owner) }
    }
    if near.count <= 5 { return near.newest(5).compactMap { $0 === asker ? nil : search.note(on: $0) } }
    let omitted = "\(near.count) registrations are similar; the rest are left out here."
    let meant = name?.closestMatch(among: near.compactMap { $0.name?.text })
    return near.filter { meant == nil || $0.name?.text == meant }.newest(3).compactMap(search.note(on:)) + [omitted]
  }
}

extension [RegistrationRecord] {
  /// Returns the newest registrations of the array, at most `limit`, in the order of registration.
  fileprivate func newest(_ limit: Int) -> [RegistrationRecord] {
    var newest: [RegistrationRecord] = []
    for record in self where newest.count < limit || record.age > newest[0].age {
      newest.insert(record, at: newest.firstIndex { $0.age > record.age } ?? newest.endIndex)
      if newest.count > limit { newest.removeFirst() }
    }
    return newest
  }
}

/// A search for registrations that are similar to a request that no registration serves.
///
/// The search first compares facts that are quick to find for each registration. It writes sentences only about the few
/// registrations that an error lists.
private struct NearMatches {
  /// The relation of a registration to the request.
  enum Relation {
    /// The registration has an instance, which would serve the request if it were registered `as: .anySupertype`.
    case fittingInstance
    /// The registration is for a subclass of the requested class, or for a type that conforms to a requested protocol.
    case subtype
    /// The registration is for containers of exactly one class, a superclass of the requesting container's class.
    case superclassOnly
    /// The registration is for the requested type, but with another name or container.
    ///
    /// A registration also counts if it is for a type with a similar name, or for a declared key of the requested type.
    case similar
    /// The registered closure returns nothing, although it may be meant to make the value.
    case nothing
  }

  private let service: Service
  private let name: String?
  private let containerType: (any AnyObject.Type)?
  private let bareName: BareName
  /// Whether the requested type is a class, in which case only classes can be its subtypes.
  private let isClass: Bool
  private let isFunction: Bool
  private let isSubtype: (any Any.Type) -> Bool

  init(_ type: any Any.Type, named name: String?, in containerType: (any AnyObject.Type)?) {
    (service, self.name, self.containerType) = (Service(type), name, containerType)
    bareName = BareName(of: type)
    isClass = bareName.isOfClass
    isFunction = TypeName.functionResult(of: type, qualified: false) != nil
    isSubtype = subtypes(of: type)
  }

  func relation(to record: RegistrationRecord) -> Relation? {
    if record.service == service {
      guard let container = record.container, let containerType, !container.includes(containerType),
        container.isSuperclass(of: containerType)
      else { return .similar }
      return .superclassOnly
    }
    let name = record.bareName
    if record.isUnlimited && record.service.key == nil && record.service.type != service.type {
      if record.isInstance && !record.servesSupertypes && record.serves(service) { return .fittingInstance }
      // The cheap conditions come first, because checking a type's supertypes at run time is slow.
      if name.isOfClass || !isClass, isSubtype(record.service.type) { return .subtype }
    }
    if record.service.key == nil && record.service.type == Void.self { return .nothing }
    return bareName.isSimilar(to: name) ? .similar : nil
  }

  /// Returns a sentence about the given registration, which becomes a note of the error.
  ///
  /// The result is nil if the registration isn't similar to the request.
  func note(on record: RegistrationRecord) -> String? {
    let (type, wanted, found) = (service.type, TypeName.of(service.type), record.service)
    switch relation(to: record) {
    case .fittingInstance:
      return "An instance that would fit is registered at \(record.place): add `as: .anySupertype` to it."
    case .subtype:
      return """
        A \(type is any AnyObject.Type ? "subclass" : "conforming type"), \(found.name), is registered at \(record.place): \
        register it for \(wanted), with registry.register(\(TypeName.source(of: type))) { … }.
        """
    case .superclassOnly:
      return """
        Registered for \(record.container.map { TypeName.of($0.type) } ?? "") and not for its subclasses, at \(record.place): \
        add `subclasses: true` to it.
        """
    case .similar where found.type != type && TypeName.of(found.type) == wanted:
      return """
        Another type of that name, \(found.qualifiedName), is registered at \(record.place); asked for is \
        \(service.qualifiedName).
        """
    case .similar where (found.type as? any FactoryType.Type)?.madeType == type:
      return """
        A factory of it is registered at \(record.place): pass arguments, resolve(\(TypeName.source(of: type)), arguments: …).
        """
    case .similar where !isFunction && record.resultName != nil:
      return """
        A function that returns \(record.resultName ?? "") is registered at \(record.place), and not its result: call it in the \
        closure, as in { T() }, or write .autowire(T.init).
        """
    case .similar:
      let meant = found == service ? record.name.flatMap { name?.closestMatch(among: [$0.text]) } : nil
      return "Registered, but not for this: \(record.summary), at \(record.place)."
        + (meant.map { " Did you mean \"\($0)\"?" } ?? "")
    case .nothing:
      return "A closure that returns nothing is registered at \(record.place): return the value that it makes."
    case nil: return nil
    }
  }
}

/// A type's name in lowercase, without `any`, generic arguments and Optionals, to compare with many other names.
///
/// For a function type, this is the name of its result type. For a factory, it is the name of the type of the values
/// that the factory makes.
struct BareName: Sendable {
  private let bytes: [UInt8]
  /// A set of bits that shows which letters and digits the name contains, to tell most names apart quickly.
  private let letters: UInt64
  /// Whether the type is a class.
  let isOfClass: Bool
  /// The beginnings of a type's name that don't count.
  private static let prefixes = ["Optional<", "ArgumentFactory<", "any "].map { Array($0.utf8) }

  /// Creates a name from the runtime's name of the type.
  ///
  /// An Optional is recognized by the name, because a cast would search the conformances of the whole program.
  init(of type: any Any.Type) {
    let result = TypeName.functionResult(of: type, qualified: false)
    var name = Array((result ?? _typeName(type, qualified: false)).utf8)[...]
    for prefix in Self.prefixes {
      while name.starts(with: prefix) { name = name.dropFirst(prefix.count) }
    }
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    bytes = name.prefix { !"<>,".utf8.contains($0) }.map { capitals ~= $0 ? $0 | 0x20 : $0 }
    letters = bytes.letters
    isOfClass = type is any AnyObject.Type
  }

  /// Returns whether the names differ in a few bytes only, as after a misspelling, or one name contains the other.
  ///
  /// A name of one or two bytes doesn't count as contained in the other name.
  func isSimilar(to other: BareName) -> Bool {
    if letters == other.letters && bytes == other.bytes { return true }
    let (shorter, longer) = bytes.count < other.bytes.count ? (self, other) : (other, self)
    let isPart = shorter.bytes.count >= 3 && shorter.letters & ~longer.letters == 0
    if isPart && longer.bytes[...].contains(part: shorter.bytes) { return true }
    // Each edit of a byte changes at most two bits of `letters`.
    let limit = longer.bytes.count / 4
    guard longer.bytes.count - shorter.bytes.count <= limit, (letters ^ other.letters).nonzeroBitCount <= 2 * limit
    else { return false }
    return editDistance(from: bytes, to: other.bytes) <= limit
  }
}
