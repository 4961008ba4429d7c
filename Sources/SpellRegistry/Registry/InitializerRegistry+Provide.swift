internal import Locking

/// A value and what made it.
struct Provided<Value> {
  let value: Value
  /// Nil where a property's own expression made it.
  let entry: (any AnyRegistrationEntry)?
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

  /// Gets the value of the registration that wins here or, where there is none, in the parent; nil where none has any.
  func provide<Value>(
    _ type: Value.Type, at point: InjectionPoint, reach: Reach = .any,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Provided<Value>? {
    let wrapped = Value.self as? any OptionalProviding.Type
    for registry in lineage {
      for entry in registry.ranked(type, at: point, reach: reach, exactly: wrapped != nil) {
        if let found = try provide(type, from: entry, of: registry, at: point, as: frame) { return found }
      }
      // An Optional is served by what makes its wrapped type.
      if let provided = try wrapped?.provide(
        Value.self, from: self, in: registry, at: point, reach: reach, as: frame)
      {
        return provided
      }
    }
    return nil
  }

  /// The registrations for a property, the most specific first.
  ///
  /// - Parameter exactly: Leaves out instances that serve any supertype.
  func ranked(
    _ type: any Any.Type, at point: InjectionPoint, reach: Reach, exactly: Bool
  ) -> [any AnyRegistrationEntry] {
    let entries = table.withLock { table in
      let entries = table.entries(for: type)
      return exactly || table.universal.isEmpty ? entries : entries + table.universal
    }
    if entries.isEmpty { return entries }
    let containerType: (any AnyObject.Type)? = point.containerType
    var ranked: [(rank: RegistrationRank, entry: any AnyRegistrationEntry)] = []
    for entry in entries where reach == .any || entry.key.container != nil {
      // Names are looked for only here, outside the lock: reflection may run the container's own code.
      if let rank = RegistrationRank(of: entry, in: containerType, named: { point.propertyName }) {
        ranked.append((rank, entry))
      }
    }
    return ranked.sorted { $0.rank.wins(over: $1.rank) }.map(\.entry)
  }

  /// Takes the value of one registration; nil where it is an instance that is not of this type.
  func provide<Value>(
    _ type: Value.Type, from entry: any AnyRegistrationEntry, of owner: InitializerRegistry,
    at point: InjectionPoint, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Provided<Value>? {
    frame.pointee.asker?.pointee.entry?.observeDependency(on: Value.self)
    guard let exact = entry as? RegistrationEntry<Value> else {
      return entry.instance(as: type).map { Provided(value: $0, entry: entry) }
    }
    let value: Value
    switch exact.scope.lifetime {
    case .unique: value = try run(exact, at: point, from: self, as: frame)
    case .graph: value = try graphValue(of: exact, at: point, as: frame)
    case .singleton, .weak, .cached:
      guard let shared = exact.shared else {
        trap("A shared scope of \(Value.self) has nowhere to keep its value; please report this.")
      }
      value = try shared.value(as: frame) { () throws(InjectionError) in
        try run(exact, at: point, from: owner, as: frame)
      }
    }
    return Provided(value: value, entry: exact)
  }

  private func graphValue<Value>(
    of entry: RegistrationEntry<Value>, at point: InjectionPoint,
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
    _ entry: RegistrationEntry<Value>, at point: InjectionPoint, from registry: InitializerRegistry,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    try frame.begin(entry, withArguments: false)
    switch entry.initializer {
    case .instance(let instance): return instance()
    case .plain(let initializer):
      return try run(entry, at: point) { try initializer(Resolver(point: point, registry: registry)) }
    case .onMainActor(let initializer):
      return try run(entry, at: point) {
        try MainActorCall(initializer: initializer, resolver: Resolver(point: point, registry: registry))
          .run()
      }
    case .async:
      // What is ready is kept by the scope, and was found there.
      throw InjectionError(
        .notReady, through: [point.step(Value.self, registration: entry.place)],
        notes: ["Await it first: try await registry.resolveAsync(\(TypeName.source(of: Value.self)))."])
    case .withArguments:
      trap("An initializer with arguments was asked for without; please report this.")
    }
  }

  /// Runs `initializer`, and makes an ``InjectionError`` of whatever it throws, with this step in its path.
  func run<Value>(
    _ entry: RegistrationEntry<Value>, at point: InjectionPoint, _ initializer: () throws -> Value
  ) throws(InjectionError) -> Value {
    do { return try initializer() } catch {
      throw InjectionError.wrapping(error, thrownBy: point.step(Value.self, registration: entry.place))
    }
  }
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
private protocol OptionalProviding {
  static func provide<Value>(
    _: Value.Type, from asked: InitializerRegistry, in registry: InitializerRegistry,
    at point: InjectionPoint,
    reach: InitializerRegistry.Reach, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Provided<Value>?
}

extension Optional: OptionalProviding {
  fileprivate static func provide<Value>(
    _: Value.Type, from asked: InitializerRegistry, in registry: InitializerRegistry,
    at point: InjectionPoint,
    reach: InitializerRegistry.Reach, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Provided<Value>? {
    for entry in registry.ranked(Wrapped.self, at: point, reach: reach, exactly: false) {
      guard
        let provided = try asked.provide(Wrapped.self, from: entry, of: registry, at: point, as: frame),
        let value = Optional(provided.value) as? Value
      else { continue }
      return Provided(value: value, entry: entry)
    }
    return nil
  }
}
