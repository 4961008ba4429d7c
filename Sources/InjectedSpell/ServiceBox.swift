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
/// A service fits a property that has the service's name, and whose type is the service's class, a superclass, a
/// protocol that the service conforms to, or an Optional of one of these. Services get each other, too: a service's
/// property asks the box first, at the property's first read and in the service's own isolation. The services are
/// instances in the box's registry, so objects that are created in that registry get them too.
///
/// Safe to use from any thread. Only the call that fills an object accesses that object.
public final class ServiceBox: Sendable {
  /// The box that the whole process shares.
  public static let `default` = ServiceBox()

  /// The registry in which the services are registered.
  public let registry: InitializerRegistry

  struct Entry: Sendable {
    let service: any Sendable
    /// The call of ``register(_:named:)`` that added the service.
    let number: UInt64
    /// Registers the service in the box's registry; returns a function that withdraws it.
    let register: @Sendable () -> @Sendable () -> Void
    /// The functions that withdraw the service; several if calls of ``register(_:named:)`` were concurrent.
    var withdrawals: [@Sendable () -> Void] = []
    /// The service as an object; nil if it isn't one.
    var object: AnyObject? { type(of: service) is any AnyObject.Type ? service as AnyObject : nil }
  }
  struct State: Sendable {
    var entries: [String: Entry] = [:]
    var lastNumber: UInt64 = 0
  }
  let state = Lock(State())

  /// Creates an empty box, which registers its services in `registry`.
  public init(registry: InitializerRegistry = InitializerRegistry()) {
    self.registry = registry
    registry.register(ServiceBox.self, named: "serviceBox") { [weak self] in
      guard let self else { throw ServiceBoxGone() }
      return self
    }
  }

  deinit { clear() }

  /// Adds a service to the box, in place of any service with the same name.
  public func register<Service: Sendable>(_ service: Service, named name: String) {
    let register: @Sendable () -> @Sendable () -> Void = { [registry] in
      registry.register(named: .equal(to: name), .instance(service, as: .anySupertype)).unregister
    }
    let (entry, replaced) = state.withLock { state in
      state.lastNumber += 1
      let entry = Entry(service: service, number: state.lastNumber, register: register)
      return (entry, state.entries.updateValue(entry, forKey: name))
    }
    if let object = replaced?.object { Adoptions.end(object, by: registry) }
    if let object = entry.object { Adoptions.begin(object, by: registry) }
    registerCurrent(named: name)
    for withdraw in replaced?.withdrawals ?? [] { withdraw() }
  }

  /// Registers the service that the box has under a name, with no lock held.
  ///
  /// Another thread may replace or remove the service meanwhile. So the thread that registers last looks again, and
  /// the registry then has the same service as the box.
  private func registerCurrent(named name: String) {
    // A service that isn't current anymore is withdrawn after the current one is registered.
    var outdated: [@Sendable () -> Void] = []
    defer { for withdraw in outdated { withdraw() } }
    while let entry = state.withLock({ $0.entries[name] }) {
      let withdraw = entry.register()
      let isCurrent = state.withLock { state in
        guard state.entries[name]?.number == entry.number else { return false }
        state.entries[name]?.withdrawals.append(withdraw)
        return true
      }
      if isCurrent { return }
      outdated.append(withdraw)
    }
  }

  /// Removes all services from the box; objects that have been filled keep their services.
  public func clear() {
    let dropped = state.withLock { state in
      defer { state.entries = [:] }
      return state.entries
    }
    for entry in dropped.values {
      if let object = entry.object { Adoptions.end(object, by: registry) }
      for withdraw in entry.withdrawals { withdraw() }
    }
  }
}

/// The error of a box's registry if the box itself is requested and no longer exists.
private struct ServiceBoxGone: Error {}

/// The result of filling an object from a ``ServiceBox``, as property names.
public struct FillReport: Sendable, Equatable {
  /// The properties that now have their service.
  public var filled: [String] = []
  /// The properties without a service in the box.
  public var missing: [String] = []
  /// The properties whose service has another type.
  public var mismatched: [String] = []
  /// The reason that nothing was filled, if there is one; it is also printed, once for each class.
  public var note: String?
}

/// A type whose objects fill themselves from a ``ServiceBox``, usually in their initializers.
public protocol ServiceBoxClient: AnyObject {}
