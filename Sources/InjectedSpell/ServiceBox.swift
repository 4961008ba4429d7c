public import SpellRegistry
internal import Support

/// A box of named services that fills the `@Injected` properties of an object by name and type.
///
/// ```swift
/// ServiceBox.default.register(Analytics(), named: "analytics")
///
/// final class Controller: ServiceBoxClient {
///   @Injected var analytics: Analytics     // the one named "analytics"
///   @Injected var serviceBox: ServiceBox   // the box itself
///   init() { fillWithDependencies() }
/// }
/// ```
///
/// A service fits a property that has the service's name and a suitable type: the service's own type, a superclass, a
/// protocol that the service conforms to, or an Optional of one of these. The services are registered as instances in
/// the box's registry, so objects that this registry creates also get them.
///
/// The services also get each other. The first read of an `@Injected` property in a service asks the box's registry,
/// and then the property's own registry if nothing that fits is registered in the box's registry or its parents. In a
/// service, a constant such as `let clock = Injected<Clock>()` asks only its own registry. The box itself doesn't read
/// or fill the properties of its services.
///
/// A box is safe to use from any thread. Only the call that fills an object accesses that object.
public final class ServiceBox: Sendable {
  /// The box that the whole process shares.
  public static let `default` = ServiceBox()

  /// The registry in which the services are registered.
  public let registry: InitializerRegistry

  /// Creates an empty box, which registers its services in `registry`.
  ///
  /// The box also registers itself in `registry`, for properties named `serviceBox`. For this reason, boxes shouldn't
  /// share a registry.
  public init(registry: InitializerRegistry = InitializerRegistry()) {
    self.registry = registry
    registry.register(ServiceBox.self, named: "serviceBox") { [weak self] in
      guard let self else { throw ServiceBoxGone() }
      return self
    }
  }

  deinit { clear() }

  /// Adds a service to the box, in place of any service with the same name.
  ///
  /// The box has the service for as long as the box's registry has its registration.
  public func register<Service: Sendable>(_ service: Service, named name: String) {
    registry.register(service, named: name, in: ObjectIdentifier(self), at: SourcePlace(fileID: #fileID, line: #line))
  }

  /// Removes all services from the box; objects that have been filled keep their services.
  public func clear() { registry.removeServices(in: ObjectIdentifier(self)) }

  /// Injects the services with matching names into an object's `@Injected` properties.
  ///
  /// A property's own name counts, even if its declaration gives another name, as in `@Injected("backup")`. The service
  /// replaces any value that the property already has, and the property's hooks are called. If the service is an object
  /// that is already the property's value, the property stays as it is, and no hooks are called.
  ///
  /// Reflection finds the properties and reads them, so no other task may be using the object. For a `Sendable` object,
  /// such as a main-actor object, also pass key paths of its properties.
  ///
  /// - Returns: A report that lists the filled properties, the properties without a service, and the properties whose
  ///   service has another type.
  @discardableResult
  public func fill<Target: AnyObject>(_ target: Target) -> FillReport {
    fillAll(of: target)
  }

  /// Injects the services with matching names into the given `@Injected` properties of an object.
  ///
  /// ```swift
  /// box.fill(screen, \.$tracker, \.$clock)
  /// ```
  ///
  /// The compiler checks that the caller runs in the isolation of the properties, for example on the main actor.
  ///
  /// - Precondition: Each key path leads to the projection of an `@Injected` property.
  @discardableResult
  public func fill<Target: AnyObject>(
    _ target: Target, _ property: PartialKeyPath<Target>, _ others: PartialKeyPath<Target>...
  ) -> FillReport {
    fill(target, at: [property] + others)
  }

  /// Injects the services with matching names into an actor's `@Injected` properties, in the actor's isolation.
  @discardableResult
  public func fill<Target: Actor>(_ target: isolated Target) -> FillReport { fillAll(of: target) }

  /// Fills nothing, because another task may be using a `Sendable` object, whose isolation isn't known to this method.
  ///
  /// - Returns: A report whose ``FillReport/note`` gives this reason.
  @available(*, deprecated, message: "name the properties: fill(object, \\.$property)")
  @discardableResult
  @MainActor public func fill<Target: AnyObject & Sendable>(_ target: Target) -> FillReport {
    unfilled(
      Target.self,
      """
      A \(TypeName.of(Target.self)) wasn't filled: it is Sendable, so another task may be using it. Name its properties, so \
      that the compiler checks where they are used: box.fill(object, \\.$property).
      """)
  }

  /// Assigns the services with the given names to properties of an object, without wrappers or reflection.
  ///
  /// ```swift
  /// box.fill(controller, ("analytics", \.analytics), ("backup", \.storage))
  /// ```
  ///
  /// The compiler checks the key paths. A computed or wrapped property must have a readable value, because setting it
  /// by key path first reads the property. A property of an Optional type takes a service of its wrapped type.
  ///
  /// - Returns: A report that lists the names whose services were assigned, the names without a service, and the names
  ///   whose service has another type.
  @discardableResult
  public func fill<Target: AnyObject, each Service>(
    _ target: Target, _ properties: repeat (String, ReferenceWritableKeyPath<Target, each Service>)
  ) -> FillReport {
    func set<Property>(_ path: ReferenceWritableKeyPath<Target, Property>, to service: any Sendable) -> Bool {
      guard let fitting = service as? Property else { return false }
      target[keyPath: path] = fitting
      return true
    }
    var setters: [(name: String, set: (any Sendable) throws -> Bool)] = []
    for (name, path) in repeat each properties { setters.append((name, { set(path, to: $0) })) }
    return useServices(for: setters)
  }

  private func fillAll(of target: AnyObject) -> FillReport { fill(target, InjectableProperties.of(target)) }

  private func fill(_ target: AnyObject, at paths: [AnyKeyPath]) -> FillReport {
    fill(
      target,
      InjectableProperties.of(target, at: paths).compactMap { wrapper, container in
        wrapper.name(in: container).map { ($0, wrapper) }
      })
  }

  private static let warned = Lock<Set<ObjectIdentifier>>([])

  /// Returns a report that says why nothing was filled, and writes the first reason for each class to standard error.
  private func unfilled(_ type: any AnyObject.Type, _ note: String) -> FillReport {
    let isFirst = Self.warned.withLock { $0.insert(ObjectIdentifier(type)).inserted }
    if isFirst { writeToStandardError("Warning: \(note)\n") }
    return FillReport(note: note)
  }

  private func fill(
    _ target: AnyObject, _ properties: [(name: String, wrapper: any InjectableProperty)]
  ) -> FillReport {
    if properties.isEmpty {
      return unfilled(type(of: target), InjectionError.noInjectableProperties(in: target).description)
    }
    return useServices(for: properties.map { name, wrapper in (name, { try wrapper.inject($0, in: target) }) })
  }

  /// Passes each named service to its setter, which returns whether the service fits, and reports the results.
  ///
  /// The name `serviceBox` also stands for the box itself.
  private func useServices(
    for setters: [(name: String, set: (any Sendable) throws -> Bool)]
  ) -> FillReport {
    var report = FillReport()
    for (name, set) in setters {
      let services = [registry.service(named: name, in: ObjectIdentifier(self)), name == "serviceBox" ? self : nil]
        .compactMap(\.self)
      // An error means that this thread is making the property's value, or that another thread is making the value and
      // waits for this thread. In both cases, the service can't be injected.
      guard !services.isEmpty, let fits = try? services.contains(where: set) else {
        report.missing.append(name)
        continue
      }
      if fits { report.filled.append(name) } else { report.mismatched.append(name) }
    }
    return report
  }
}

/// The error that the registered initializer of a `ServiceBox` throws after the box has been released.
private struct ServiceBoxGone: Error {}

/// The result of filling an object from a ``ServiceBox``, which lists the names of the requested services.
public struct FillReport: Sendable, Equatable {
  /// The names of the services that the object's properties now contain.
  public var filled: [String] = []
  /// The requested names for which the box has no service.
  ///
  /// A name is also in this list if the property's value is being made, either by the calling thread or by a thread
  /// that waits for the calling thread.
  public var missing: [String] = []
  /// The names of the services whose type doesn't fit the property that was to be filled.
  public var mismatched: [String] = []
  /// The reason that the object couldn't be filled; nil if it could.
  ///
  /// The first reason for each class is also written to standard error.
  public var note: String?
}

/// A type whose objects fill themselves from a ``ServiceBox``, usually in their initializers.
public protocol ServiceBoxClient: AnyObject {}

extension ServiceBoxClient {
  /// Fills this object's `@Injected` properties; see ``ServiceBox``.
  ///
  /// Call this method in the object's isolation, such as on its actor.
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { box.fill(self) }
}

extension ServiceBoxClient where Self: Sendable {
  /// Fills this main-actor object's `@Injected` properties; see ``ServiceBox``.
  ///
  /// For a `Sendable` object of another actor, name the properties: `box.fill(self, \.$tracker)`.
  ///
  /// - Precondition: The object belongs to the main actor.
  @discardableResult
  @MainActor public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport {
    box.fill(self as AnyObject)
  }
}

extension ServiceBoxClient where Self: Actor {
  /// Fills this actor's `@Injected` properties; see ``ServiceBox``.
  ///
  /// - Precondition: The caller runs on the actor.
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { assumeIsolated { box.fill($0) } }
}
