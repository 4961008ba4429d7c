internal import SpellRegistry
internal import Support

/// A service that an attempt of a step made, and that is registered until the service is closed.
protocol MadeService: AnyObject, Sendable {
  /// Registers the service in the registry that was current when the service was made.
  ///
  /// Does nothing if the service has already been withdrawn.
  func register()

  /// Unregisters the service, so that what it hid serves again.
  ///
  /// If the service hid one of `others`, that service is registered in its place.
  func withdraw(uncovering others: [any MadeService])

  /// Registers the service in a registry that only the step's own shutdown uses.
  func register(in registry: InitializerRegistry)

  /// Calls the `shutDown(_:)` of the initializer that made the service.
  nonisolated(nonsending) func close() async throws
}

/// A service with the initializer that made it.
///
/// `@unchecked Sendable`: `state` has a lock, and all other properties are constants. The initializer is `Sendable`, as
/// ``Initializable/SendableSelf`` requires.
final class OwnedService<Maker: ServiceInitializer>: MadeService, @unchecked Sendable {
  private enum State {
    case made
    case registered(Registration<Maker.Service>)
    case withdrawn
  }

  private let service: Maker.Service
  private let maker: Maker
  /// The declared key that gives the service; nil if the service is registered for its type.
  private let key: InjectionKey<Maker.Service>?
  private let registry = InitializerRegistry.current
  private let state = Lock(State.made)

  /// Creates an owner of a service, for the registry that is current.
  init(_ service: Maker.Service, of maker: Maker, for key: InjectionKeys?) {
    (self.service, self.maker, self.key) = (service, maker, key as? InjectionKey<Maker.Service>)
  }

  func register() {
    if case .withdrawn = state.withLock(\.self) { return }
    let registration = Self.register(service, for: key, in: registry)
    let isWithdrawn = state.withLock { state in
      if case .withdrawn = state { return true }
      state = .registered(registration)
      return false
    }
    // Another thread may have withdrawn the service in the meantime.
    if isWithdrawn { registration.unregister() }
  }

  func withdraw(uncovering others: [any MadeService]) {
    let former = state.withLock { state in
      defer { state = .withdrawn }
      return state
    }
    guard case .registered(let registration) = former else { return }
    let isServing = registry.registrations.contains { $0 === registration.record }
    let hidden =
      isServing
      ? others.lazy.compactMap { $0 as? OwnedService }.last { $0.registry === registry && $0.key === key } : nil
    if let hidden { hidden.register() } else { registration.unregister() }
  }

  func register(in registry: InitializerRegistry) { _ = Self.register(service, for: key, in: registry) }

  private static func register(
    _ service: Maker.Service, for key: InjectionKey<Maker.Service>?, in registry: InitializerRegistry
  ) -> Registration<Maker.Service> {
    if let key { registry.register(key, .instance(service)) } else { registry.register(.instance(service)) }
  }

  /// The conformance of a main-actor type may be limited to the main actor, as ``StepWork`` explains.
  nonisolated(nonsending) func close() async throws {
    if maker as Any is any Initializable { try await closeHere() } else { try await closeOnMainActor() }
  }

  private nonisolated(nonsending) func closeHere() async throws { try await maker.shutDown(service) }
  @MainActor private func closeOnMainActor() async throws { try await closeHere() }
}
