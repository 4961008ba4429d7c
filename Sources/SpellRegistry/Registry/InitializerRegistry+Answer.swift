internal import Locking

/// The registration that wins for a question.
@usableFromInline struct Answer {
  @usableFromInline enum Fit {
    /// It makes what was asked for.
    case exact
    /// It is an instance that has what was asked for as a supertype.
    case supertype
    /// It makes what the Optional that was asked for wraps, in one of the ways above.
    case wrapped
  }

  let entry: RegistrationRecord
  let fit: Fit
  /// The registry that the registration is in: the one that was asked or a parent of it, which the asked one holds.
  unowned(unsafe) let owner: InitializerRegistry
}

// The way from a question to a value: find the registration that wins, then run its initializer or take what its
// scope keeps.
extension InitializerRegistry {
  /// Which registrations a question is open to.
  enum Reach {
    /// All of them.
    case any
    /// Those limited to the container's type: the rest come after the property's own expression.
    case containersOnly
  }

  /// Whether a registration here or in a parent is limited to a class of containers.
  var hasLimits: Bool { index.hasLimits || parent?.hasLimits ?? false }

  /// The registration that wins here or, where there is none, in the parent; nil where none has any.
  func answer(
    to type: any Any.Type, at point: () -> InjectionPoint, reach: Reach = .any,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) -> Answer? {
    if reach == .any, case .one(let only) = onlyAnswer(to: type, on: frame.pointee.thread) { return only }
    let point = point()
    let wrapped = (type as? any OptionalValue.Type)?.wrappedType
    for registry in lineage {
      if let entry = registry.winner(for: type, at: point, reach: reach, exactly: wrapped != nil) {
        return Answer(entry: entry, fit: entry.fit(to: type), owner: registry)
      }
      // An Optional is served by what makes its wrapped type.
      if let wrapped, let entry = registry.winner(for: wrapped, at: point, reach: reach) {
        return Answer(entry: entry, fit: .wrapped, owner: registry)
      }
    }
    return nil
  }

  /// What can be said of a type without a look at what asks.
  enum OnlyAnswer {
    /// There is one registration of it, as mostly, which wins whoever asks.
    case one(Answer)
    /// The same, and whoever looked has taken what was wanted of it.
    case taken
    /// It takes a closer look.
    case unknown
  }

  /// The one registration of a type that wins whoever asks, found without a lock that another thread wants.
  ///
  /// - Parameters:
  ///   - type: The type asked for.
  ///   - thread: The current thread.
  ///   - isInherited: Whether a registry further in has been looked at, and has nothing of this type.
  ///   - take: Shown the registration; says whether it has taken what was wanted.
  func onlyAnswer(
    to type: any Any.Type, on thread: UnsafeMutablePointer<CreationThread>, isInherited: Bool = false,
    take: (RegistrationRecord) -> Bool = { _ in false }
  ) -> OnlyAnswer {
    // What makes an Optional comes after what makes its wrapped type in a registry further in.
    let finding = index.find(type, on: thread) { (!isInherited || $0.isKnownToBeNoOptional) && take($0) }
    switch finding {
    case .one(let entry):
      return isInherited && entry.makesOptional(type) ? .unknown : .one(Answer(entry: entry, fit: .exact, owner: self))
    case .taken: return .taken
    case .nothing: return parent?.onlyAnswer(to: type, on: thread, isInherited: true, take: take) ?? .unknown
    case .several: return .unknown
    }
  }

  /// The most specific registration in the table.
  ///
  /// - Parameter exactly: Leaves out instances that serve any supertype.
  func winner(
    for type: any Any.Type, at point: InjectionPoint, reach: Reach = .any, exactly: Bool = false
  ) -> (any AnyRegistrationEntry)? {
    let (entries, universal) = table.withLock { ($0.entries(for: type), exactly ? [] : $0.universal) }
    var best: (entry: any AnyRegistrationEntry, rank: RegistrationRank)?
    for entry in [entries, universal].joined() where reach == .any || entry.key.container != nil {
      // Names are looked for only here, outside the lock: reflection may run the container's own code.
      guard let rank = RegistrationRank(of: entry, in: point.containerType, named: { point.propertyName }) else {
        continue
      }
      if let best, !rank.wins(over: best.rank) { continue }
      if !entry.key.servesSupertypes || entry.serves(type) { best = (entry, rank) }
    }
    return best?.entry
  }

  /// Gets the value of a registration: what its scope keeps, or what its initializer makes now.
  func value<Value>(
    of answer: Answer, at point: () -> InjectionPoint, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    frame.pointee.asker?.pointee.entry?.observeDependency(on: Value.self)
    if answer.fit != .exact { return try convertedValue(of: answer, at: point, as: frame) }
    // The table has it under `Value`, which is what every question is asked with.
    let entry = unsafeDowncast(answer.entry, to: RegistrationEntry<Value>.self)
    switch entry.lifetime {
    case .unique: return try run(entry, at: point, from: self, as: frame)
    case .graph: return try graphValue(of: entry, at: point, as: frame)
    case .singleton, .weak, .cached:
      return try entry.shared.value(as: frame) { () throws(InjectionError) in
        try run(entry, at: point, from: answer.owner, as: frame)
      }
    }
  }

  /// Gets the value of a registration of another type than the one that was asked for.
  private func convertedValue<Value>(
    of answer: Answer, at point: () -> InjectionPoint, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    if answer.fit == .wrapped, let type = Value.self as? any OptionalInjection.Type {
      return try type.value(of: answer, from: self, at: point, as: frame)
    }
    guard let value = (answer.entry as? any AnyRegistrationEntry)?.instance(as: Value.self) else {
      trap("What is registered at \(answer.entry.place) is no \(TypeName.of(Value.self)); please report this.")
    }
    return value
  }

  private func graphValue<Value>(
    of entry: RegistrationEntry<Value>, at point: () -> InjectionPoint,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    let outermost = frame.outermost
    let graph = outermost.pointee.graph ?? GraphValues()
    outermost.pointee.graph = graph
    if let value = graph.value(of: entry) { return value }
    let value = try run(entry, at: point, from: self, as: frame)
    graph.keep(value, of: entry)
    return value
  }

  /// Runs a registration's initializer, with dependencies from `registry`.
  private func run<Value>(
    _ entry: RegistrationEntry<Value>, at point: () -> InjectionPoint, from registry: InitializerRegistry,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    try frame.begin(entry, withArguments: false)
    do {
      switch entry.initializer {
      case .instance(let instance): return instance()
      case .independent(let initializer): return try initializer()
      case .plain(let initializer): return try initializer(Resolver(point: point(), registry: registry))
      case .onMainActor(let initializer):
        return try MainActorCall(initializer: initializer, resolver: Resolver(point: point(), registry: registry)).run()
      case .async:
        // What is ready is kept by the scope, and was found there.
        throw InjectionError(
          .notReady, through: [],
          notes: ["Await it first: try await registry.resolveAsync(\(TypeName.source(of: Value.self)))."])
      case .withArguments:
        trap("An initializer with arguments was asked for without; please report this.")
      }
    } catch {
      throw InjectionError.wrapping(error, thrownBy: point().step(Value.self, registration: entry.place))
    }
  }
}

extension AnyRegistrationEntry {
  func fit(to type: any Any.Type) -> Answer.Fit { key.type == ObjectIdentifier(type) ? .exact : .supertype }
}

extension InjectionError {
  /// What becomes of an error that an initializer threw: the same with one more step, or `.initializerFailed`.
  static func wrapping(_ error: any Error, thrownBy step: InjectionStep) -> InjectionError {
    switch error {
    case let error as InjectionError: error.asked(by: step)
    default: InjectionError(.initializerFailed, through: [step], underlying: error)
    }
  }
}

/// Lets an Optional type be asked for as its wrapped type.
private protocol OptionalInjection {
  static func value<Value>(
    of answer: Answer, from registry: InitializerRegistry, at point: () -> InjectionPoint,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value
}

extension Optional: OptionalInjection {
  fileprivate static func value<Value>(
    of answer: Answer, from registry: InitializerRegistry, at point: () -> InjectionPoint,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    let isExact = answer.entry.key.type == ObjectIdentifier(Wrapped.self)
    let unwrapped = Answer(entry: answer.entry, fit: isExact ? .exact : .supertype, owner: answer.owner)
    let wrapped: Wrapped = try registry.value(of: unwrapped, at: point, as: frame)
    guard let value = Optional(wrapped) as? Value else {
      trap("\(TypeName.of(Value.self)) does not wrap \(TypeName.of(Wrapped.self)); please report this.")
    }
    return value
  }
}
