/// A request for a value, as the registry hands it on: an ``InjectionPoint`` that is never copied.
///
/// It counts no references: the function that makes one holds what it names until the request has ended.
@usableFromInline package struct Request: ~Copyable {
  let type: any Any.Type
  private let key: Borrowed<InjectionKeys>?
  private let owner: Borrowed<AnyObject>?
  /// The storage of the property that asks, if one does, and its address.
  private let cell: Borrowed<PropertyCell>?
  let property: UInt?
  let alias: Alias?
  /// The container's class, if there is no container to ask.
  private let knownContainerType: (any AnyObject.Type)?

  init(
    _ type: any Any.Type, _ key: InjectionKeys? = nil, of cell: PropertyCell? = nil, named alias: Alias? = nil,
    in container: AnyObject? = nil, inClass containerType: (any AnyObject.Type)? = nil
  ) {
    self.type = type
    self.key = key.map { Borrowed($0) }
    owner = container.map { Borrowed($0) }
    self.cell = cell.map { Borrowed($0) }
    property = cell.map { $0.memory.head.gate.id }
    self.alias = alias
    knownContainerType = containerType
  }

  /// A request for any object of a class.
  init(_ service: borrowing Service, named name: String?, inClass containerType: (any AnyObject.Type)? = nil) {
    self.init(service.type, service.key, named: name.map { Alias($0) }, inClass: containerType)
  }

  /// The key's identity or the type's, by which a registry finds it.
  var id: ObjectIdentifier { key?.id ?? ObjectIdentifier(type) }
  var service: Service { Service(type, key: key?.object) }
  var hasKey: Bool { key != nil }
  var container: AnyObject? { owner?.object }
  /// The identity that two requests share if they need each other's result.
  var asker: Frame.Asker {
    Frame.Asker(container: owner?.id, property: property, name: alias.map { Borrowed($0) })
  }
  var containerType: (any AnyObject.Type)? { container.map { Swift.type(of: $0) } ?? knownContainerType }
  var name: String? { alias?.name ?? point.propertyName }
  var mayHaveName: Bool { alias != nil || cell != nil && owner != nil }
  var point: InjectionPoint { InjectionPoint(service, of: cell?.object, named: alias, in: container) }
  /// The request as a step of an error's path.
  func step(_ record: RegistrationRecord? = nil) -> InjectionStep { point.step(record) }
  /// The same request for what the Optional wraps.
  func forWrapped(_ type: any Any.Type) -> Request {
    Request(type, of: cell?.object, named: alias, in: container)
  }
}

/// The name that a request gives, behind a reference: most give none.
final class Alias: Sendable {
  let name: String

  init(_ name: String) { self.name = name }
}

/// The destination of a value: the property that asks for it, and the object that holds the property.
///
/// Every initializer that takes a ``Resolver`` and every hook gets one. It is valid while that initializer or hook
/// runs, and holds its container strongly for just as long. What runs on the main actor gets a point without a container.
public struct InjectionPoint {
  /// The service that is asked for: a type, or a declared key of it.
  package let service: Service
  /// The object that holds the property; nil for a struct, a local, a plain constant, and a direct `resolve`.
  public private(set) var container: AnyObject?
  /// The storage of the property that asks, if one does.
  private let cell: PropertyCell?
  /// The name that `resolve` or the property's declaration gives.
  private let givenName: Alias?
  /// The parts that few points have: apart, so that the others are small.
  private var details: Details?

  private final class Details {
    let identity: PropertyIdentity?
    /// The property's own name, if it was found before.
    let name: String??
    /// The container's class, if there is no container to ask.
    let containerType: (any AnyObject.Type)?

    init(identity: PropertyIdentity?, name: String??, containerType: (any AnyObject.Type)?) {
      (self.identity, self.name, self.containerType) = (identity, name, containerType)
    }
  }

  init(_ service: Service, of cell: PropertyCell? = nil, named alias: Alias? = nil, in container: AnyObject? = nil) {
    self.service = service
    self.container = container
    self.cell = cell
    givenName = alias
  }

  /// Creates the point of a property that an enclosing instance holds.
  ///
  /// - Parameters:
  ///   - propertyType: The property's declared type.
  ///   - container: The object that holds it, if one does.
  ///   - identity: The property's storage, by which reflection finds its name.
  ///   - alias: The name to ask with instead of the property's own, as in `@Injected("backup")`.
  public init(
    _ propertyType: any Any.Type, in container: AnyObject?, property identity: PropertyIdentity, alias: String? = nil
  ) {
    self.init(Service(propertyType), named: alias.map { Alias($0) }, in: container)
    details = Details(identity: identity, name: nil, containerType: nil)
  }

  /// The property's storage, if a wrapped property asks.
  var identity: PropertyIdentity? { cell?.identity ?? details?.identity }

  /// The declared type of the property, or the type that `resolve` was called with.
  public var propertyType: any Any.Type { service.type }

  /// The dynamic class of the container.
  public var containerType: (any AnyObject.Type)? { container.map { type(of: $0) } ?? details?.containerType }

  /// The name that the value is asked with: the property's own, unless its declaration or `resolve` gave another.
  ///
  /// Found by reflection once for each class and property (about a microsecond), then looked up. It is nil for
  /// structs, locals and plain constants, and in a program that was built without reflection metadata.
  public var propertyName: String? { alias ?? ownName }

  private var alias: String? { givenName?.name }

  /// The property's own name, whatever it is asked with.
  var declaredName: String? { identity == nil || containerType == nil ? alias : ownName }

  private var ownName: String? {
    if let name = details?.name { return name }
    guard let identity, let container else { return nil }
    return WrappedProperties.name(of: identity, in: container)
  }

  /// The same point, which keeps its name when the object gets other storage for the property.
  func withKnownName() -> InjectionPoint {
    var point = self
    point.details = Details(identity: details?.identity, name: .some(ownName), containerType: containerType)
    return point
  }

  /// The same point without its container, for code that may be isolated otherwise.
  func withoutContainer() -> InjectionPoint {
    var point = withKnownName()
    point.container = nil
    return point
  }

  /// The point as a step of an error's path.
  package func step(_ record: RegistrationRecord? = nil) -> InjectionStep {
    var step = InjectionStep(record?.service ?? service, registration: record?.place)
    step.name = alias
    guard let identity else { return step }
    step.declaration = identity.place.description
    step.property = containerType.map { type in
      "\(TypeName.of(type)).\(declaredName ?? "(unnamed: built without reflection metadata)")"
    }
    return step
  }
}

/// The access of an initializer to its dependencies: the registry, and the point that the value is for.
///
/// ```swift
/// registry.register(Network.self) { resolver in
///   Network(clock: try resolver.resolve(), name: resolver.point.propertyName)
/// }
/// ```
///
/// It is valid while the initializer runs. What it resolves belongs to the resolution in which the initializer runs, also
/// after an `await`.
public struct Resolver {
  /// The property that the value will go to, and its container.
  public let point: InjectionPoint
  /// The registry that answers: the one asked, except for a value that an outer registry keeps and shares,
  /// whose dependencies come from there.
  public let registry: InitializerRegistry
  /// The async initializer that has this resolver.
  let run: AsyncRun?

  init(point: InjectionPoint, registry: InitializerRegistry, run: AsyncRun? = nil) {
    (self.point, self.registry, self.run) = (point, registry, run)
  }

  @usableFromInline init(_ request: borrowing Request, _ registry: InitializerRegistry) {
    self.init(point: request.point, registry: registry)
  }

  /// The same resolver for an initializer of the main actor.
  func onMainActor() -> Resolver { Resolver(point: point.withoutContainer(), registry: registry, run: run) }

  /// Returns a dependency, as the registry's `resolve` does.
  @inlinable public func resolve<Value>(
    _ type: Value.Type = Value.self, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, nil, named: name, in: container)
    }
  }

  /// Returns the value of a declared key, as the registry's `resolve` does.
  @inlinable public func resolve<Value>(
    _ key: InjectionKey<Value>, named name: String? = nil, in container: AnyObject? = nil
  ) throws(InjectionError) -> Value {
    try ValueMemory.value { memory throws(InjectionError) in
      try resolve(into: memory, Value.self, key, named: name, in: container)
    }
  }

  /// Unavailable: the type has to be known.
  @available(
    *, unavailable, message: "Say which type: 'try resolve(Clock.self)', or 'let clock: Clock = try resolve()'."
  )
  public func resolve() throws(InjectionError) { fatalError() }

  @usableFromInline func resolve(
    into memory: ValueMemory, _ type: any Any.Type, _ key: InjectionKeys?, named name: String?, in container: AnyObject?
  ) throws(InjectionError) {
    try continuing { () throws(InjectionError) in
      try registry.resolve(into: memory, type, key, named: name, in: container)
    }
  }

  /// Returns one value from each registration of a type, as the registry's `resolveAll` does.
  public func resolveAll<Value>(_ type: Value.Type = Value.self) throws(InjectionError) -> [Value] {
    var values: [Value] = []
    try continuing { () throws(InjectionError) in values = try registry.resolveAll(type) }
    return values
  }

  /// Runs `body` as part of the resolution that this resolver belongs to.
  func continuing(_ body: () throws(InjectionError) -> Void) throws(InjectionError) {
    if let run { try run.continuing(body) } else { try body() }
  }
}
