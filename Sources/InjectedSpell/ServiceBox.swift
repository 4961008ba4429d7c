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
/// A service fits a property that has its name, and whose type is its class, a superclass, a protocol that it conforms
/// to, or an Optional of one of these. Services get each other, too: a service's property asks the box first, when it is
/// first read, in the service's own isolation. They are instances in the box's registry, so objects that are created in that
/// registry get them too.
///
/// Safe to use from any thread; the objects it fills are touched only by the call that fills.
public final class ServiceBox: Sendable {
  /// The box of the whole process.
  public static let `default` = ServiceBox()

  /// The registry that has the services.
  public let registry: InitializerRegistry

  private struct Entry: Sendable {
    let service: any Sendable
    let registration: @Sendable () -> Void
  }
  private let entries = Lock<[String: Entry]>([:])

  /// Creates an empty box.
  public init(registry: InitializerRegistry = InitializerRegistry()) {
    self.registry = registry
    registry.register(ServiceBox.self, named: "serviceBox") { [weak self] in
      guard let self else { throw ServiceBoxGone() }
      return self
    }
  }

  deinit { clear() }

  /// Adds a service to the box, and replaces one with the same name.
  public func register<Service: Sendable>(_ service: Service, named name: String) {
    let registration = registry.register(instance: service, as: .anySupertype, named: .equal(to: name))
    let entry = Entry(service: service) { registration.unregister() }
    let replaced = entries.withLock { $0.updateValue(entry, forKey: name) }
    if let replaced { endAdoption(of: replaced) }
    if let object = object(of: entry) { Adoptions.begin(object, by: registry) }
  }

  /// Removes the services.
  ///
  /// Objects that were filled keep them.
  public func clear() {
    let dropped = entries.withLock { entries in
      defer { entries = [:] }
      return entries
    }
    for entry in dropped.values {
      endAdoption(of: entry)
      entry.registration()
    }
  }

  private func object(of entry: Entry) -> AnyObject? {
    type(of: entry.service) is any AnyObject.Type ? entry.service as AnyObject : nil
  }

  private func endAdoption(of entry: Entry) {
    if let object = object(of: entry) { Adoptions.end(object, by: registry) }
  }

  /// Injects the services with matching names into an object's `@Injected` properties.
  ///
  /// A property that has another value gets the service instead, and its hooks are called. A property that already has
  /// the service stays as it is. The properties are found by reflection, which reads every stored property of the
  /// object, so the object must be the caller's own. An actor is filled on itself. For a `Sendable` object, such as one of the
  /// main actor, name the properties.
  ///
  /// - Returns: The properties that were filled, those without a service, and those whose service has another type.
  @discardableResult
  public func fill<Target: AnyObject>(_ target: Target) -> FillReport { fillUnchecked(target) }

  /// Injects the services into these `@Injected` properties of an object, as `fill(_:)` does.
  ///
  /// ```swift
  /// box.fill(screen, \.$tracker, \.$clock)
  /// ```
  ///
  /// The compiler checks that the caller has the isolation of the properties.
  ///
  /// - Precondition: Each key path is that of a projection of an `@Injected` property.
  @discardableResult
  public func fill<Target: AnyObject>(
    _ target: Target, _ property: PartialKeyPath<Target>, _ others: PartialKeyPath<Target>...
  ) -> FillReport {
    let chosen = InjectableProperties.of(target, at: [property] + others).map(\.identity.address)
    return fill(target, InjectableProperties.of(target).filter { chosen.contains($0.wrapper.identity.address) })
  }

  /// Fills an actor, on the actor, as `fill(_:)` does.
  @discardableResult
  public func fill<Target: Actor>(_ target: isolated Target) -> FillReport { fillUnchecked(target) }

  /// Fills nothing: which isolation a `Sendable` object has can't be known here, and another task may be using it.
  ///
  /// - Returns: A report whose ``FillReport/note`` says so.
  @available(*, deprecated, message: "name the properties: fill(object, \\.$property)")
  @discardableResult
  @MainActor public func fill<Target: AnyObject & Sendable>(_ target: Target) -> FillReport {
    let note = """
      A \(TypeName.of(Target.self)) wasn't filled: it is Sendable, so another task may be using it. Name its properties, so \
      that the compiler checks where they are used: box.fill(object, \\.$property).
      """
    Warnings.warnOnce(of: Target.self, note)
    return FillReport(note: note)
  }

  private func fillUnchecked(_ target: AnyObject) -> FillReport { fill(target, InjectableProperties.of(target)) }

  private func fill(
    _ target: AnyObject, _ properties: [(name: String, wrapper: any InjectableProperty)]
  ) -> FillReport {
    var report = FillReport()
    if properties.isEmpty {
      let note = InjectionError.noInjectableProperties(in: target).description
      report.note = note
      Warnings.warnOnce(of: type(of: target), note)
    }
    for property in properties {
      guard let service = service(named: property.name) else {
        report.missing.append(property.name)
        continue
      }
      do throws(InjectionError) {
        let fits = try property.wrapper.inject(service, in: target)
        if fits { report.filled.append(property.name) } else { report.mismatched.append(property.name) }
      } catch {
        // The property's own initializer is running further out on this thread, whose value it will have.
        report.missing.append(property.name)
      }
    }
    return report
  }

  /// The service of this name; for the name "serviceBox" the box itself.
  private func service(named name: String) -> (any Sendable)? {
    if name == "serviceBox" { return self }
    return entries.withLock { $0[name]?.service }
  }
}

/// The box whose registry is asked for it is gone.
private struct ServiceBoxGone: Error {}

/// The result of filling an object from a ``ServiceBox``, as property names.
public struct FillReport: Sendable, Equatable {
  /// The properties that have their service.
  public var filled: [String] = []
  /// The properties without a service in the box.
  public var missing: [String] = []
  /// The properties whose service has another type.
  public var mismatched: [String] = []
  /// The reason that nothing was filled, if reflection shows no property to fill.
  ///
  /// It is also printed, once for each class.
  public var note: String?
}

/// An object that fills itself from a ``ServiceBox``, usually in its initializer.
public protocol ServiceBoxClient: AnyObject {}

extension ServiceBoxClient {
  /// Fills this object's `@Injected` properties; see ``ServiceBox``.
  ///
  /// Call it where the object may be used: an object of an actor on that actor.
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { box.fill(self) }
}

extension ServiceBoxClient where Self: Actor {
  /// Fills this actor's `@Injected` properties; see ``ServiceBox``.
  ///
  /// - Precondition: Called on the actor.
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { assumeIsolated { box.fill($0) } }
}

// MARK: Key paths

extension ServiceBox {
  /// Assigns the services with these names to an object's properties, without wrappers and reflection.
  ///
  /// ```swift
  /// box.fill(controller, ("analytics", \.analytics), ("backup", \.storage))
  /// ```
  ///
  /// The compiler checks the key paths, which can refer to any settable property that can be read: the language reads one
  /// before it is set by key path. A property of an Optional type takes a service of its wrapped type.
  ///
  /// - Returns: The names whose services were assigned, those without a service, and those whose service has another
  ///   type.
  @discardableResult
  public func fill<Target: AnyObject, each Service>(
    _ target: Target, _ properties: repeat (String, ReferenceWritableKeyPath<Target, each Service>)
  ) -> FillReport {
    var report = FillReport()
    for (name, path) in repeat each properties {
      set(path, of: target, to: name, report: &report)
    }
    return report
  }

  private func set<Target: AnyObject, Service>(
    _ path: ReferenceWritableKeyPath<Target, Service>, of target: Target, to name: String, report: inout FillReport
  ) {
    guard let service = service(named: name) else { return report.missing.append(name) }
    guard let fitting = service as? Service else { return report.mismatched.append(name) }
    target[keyPath: path] = fitting
    report.filled.append(name)
  }
}

// MARK: Warnings

/// Messages on the standard error for what would else go unnoticed.
private enum Warnings {
  private static let warned = Lock<Set<ObjectIdentifier>>([])

  /// Prints a line, the first time that it is about this class.
  static func warnOnce(of type: any AnyObject.Type, _ message: @autoclosure () -> String) {
    guard warned.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
    writeToStandardError("Warning: \(message())\n")
  }
}
