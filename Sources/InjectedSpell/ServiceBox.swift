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
/// to, or an Optional of one of these. The box also fills the services with each other. They are instances in the box's
/// registry, so objects that are created in that registry get them too.
///
/// Safe to use from any thread; the objects it fills are touched only by the call that fills.
public final class ServiceBox: Sendable {
  /// The box of the whole process.
  public static let `default` = ServiceBox()

  /// The registry that has the services.
  public let registry: InitializerRegistry

  private struct Entry: Sendable {
    let service: any Sendable
    /// Counts up with each service in the box.
    let age: Int
    /// Whether it was put into the box on the main actor, and so may live there.
    let isOnMainActor: Bool
    let registration: @Sendable () -> Void
  }
  private struct Entries: Sendable {
    var byName: [String: Entry] = [:]
    var age = 0
  }
  private let entries = Lock(Entries())

  /// Creates an empty box.
  public init(registry: InitializerRegistry = InitializerRegistry()) { self.registry = registry }

  /// Adds a service to the box, and replaces one with the same name.
  ///
  /// Call this on the main actor for a service of the main actor. The box then fills it on the main actor only.
  public func register<Service: Sendable>(
    _ service: Service, named name: String, isolation: isolated (any Actor)? = #isolation
  ) {
    // Both under the lock, so that box and registry agree on the last of a name. What they replace is released after
    // it: a deinitializer may do anything.
    let replaced = entries.withLock { entries in
      let (registration, replaced) = registry.replace(with: service, as: .anySupertype, named: .equal(to: name))
      entries.age += 1
      let entry = Entry(service: service, age: entries.age, isOnMainActor: isolation === MainActor.shared) {
        registration.unregister()
      }
      return (entries.byName.updateValue(entry, forKey: name), replaced)
    }
    withExtendedLifetime(replaced) {}
  }

  /// Removes the services.
  ///
  /// Objects that were filled keep them.
  public func clear() {
    let dropped = entries.withLock { entries in
      defer { entries.byName = [:] }
      return entries.byName
    }
    for entry in dropped.values { entry.registration() }
  }

  /// Injects the services with matching names into an object's `@Injected` properties, and into each other's.
  ///
  /// A property that has another value gets the service instead, and its hooks are called. A property that already has
  /// the service stays as it is. The properties are found by reflection, which reads every stored property of the
  /// object, so no other thread may be using the object. A main-actor object is filled on the main actor, and an actor
  /// on itself; the compiler chooses the overload. Services that were added on the main actor are filled by calls on
  /// the main actor only, and actors fill themselves.
  ///
  /// - Returns: The properties that were filled, those without a service, and those whose service has another type.
  @discardableResult
  public func fill<Target: AnyObject>(_ target: Target) -> FillReport { fillUnchecked(target, isOnMainActor: false) }

  /// Fills a `Sendable` object on the main actor, as `fill(_:)` does.
  @discardableResult
  @MainActor public func fill<Target: AnyObject & Sendable>(_ target: Target) -> FillReport {
    fillUnchecked(target, isOnMainActor: true)
  }

  /// Fills an actor, on the actor, as `fill(_:)` does.
  @discardableResult
  public func fill<Target: Actor>(_ target: isolated Target) -> FillReport {
    fillUnchecked(target, isOnMainActor: false)
  }

  private func fillUnchecked(_ target: AnyObject, isOnMainActor: Bool) -> FillReport {
    let report = fillAlone(target)
    if let note = report.note { Warnings.warnOnce(of: type(of: target), note) }
    for entry in entries.withLock(\.byName).values.sorted(by: { $0.age < $1.age }) {
      guard type(of: entry.service) is any AnyObject.Type, !(entry.service is any Actor) else { continue }
      if entry.isOnMainActor && !isOnMainActor { continue }
      _ = fillAlone(entry.service as AnyObject)
    }
    return report
  }

  /// The service of this name; for the name "serviceBox" the box itself.
  func service(named name: String) -> (any Sendable)? {
    if name == "serviceBox" { return self }
    return entries.withLock { $0.byName[name]?.service }
  }

  private func fillAlone(_ target: AnyObject) -> FillReport {
    var report = FillReport()
    let properties = InjectableProperties.of(target)
    if properties.isEmpty { report.note = InjectionError.noInjectableProperties(in: target).description }
    for property in properties {
      guard let service = service(named: property.name) else {
        report.missing.append(property.name)
        continue
      }
      do throws(InjectionError) {
        let fits = try property.wrapper.inject(service, in: target)
        if fits { report.filled.append(property.name) } else { report.mismatched.append(property.name) }
      } catch {
        // The property's own initializer is running further out on this thread, whose value it will have; or its registry
        // is gone.
        report.missing.append(property.name)
      }
    }
    return report
  }
}

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
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { box.fill(self) }
}

extension ServiceBoxClient where Self: Sendable {
  /// Fills this object's `@Injected` properties, on the main actor; see ``ServiceBox``.
  @discardableResult
  @MainActor public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { box.fill(self) }
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
  /// The compiler checks the key paths, which can refer to any settable property. A property of an Optional type takes
  /// a service of its wrapped type.
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
