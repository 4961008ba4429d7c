internal import SpellRegistry
internal import Support

/// A product of a step: an object that an attempt made, and that is registered until it is closed.
///
/// The products of steps are the services of ``ServiceInitializer``. They have another name here because the machine's
/// services are those that run.
protocol StepProduct: AnyObject, Sendable {
  /// Registers the product in the registry that was current when it was made, where it hides what was registered.
  ///
  /// Does nothing if the product has already been withdrawn.
  func register()

  /// Unregisters the product, so that what it hid serves again.
  func withdraw()

  /// Registers the product in a registry that only the step's own shutdown uses.
  func register(in registry: InitializerRegistry)

  /// Calls the `shutDown(_:)` of the initializer that made the product.
  nonisolated(nonsending) func close() async throws
}

/// A service with the initializer that made it.
///
/// `@unchecked Sendable`: `state` has a lock, and all other properties are constants. The initializer is `Sendable`, as
/// ``Initializable/SendableSelf`` requires.
final class MadeService<Maker: ServiceInitializer>: StepProduct, @unchecked Sendable {
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
    let place = SourcePlace(fileID: #fileID, line: #line)
    let registration = registry.hide(with: .instance(service), for: key, at: place)
    let isWithdrawn = state.withLock { state in
      if case .withdrawn = state { return true }
      state = .registered(registration)
      return false
    }
    // Another thread may have withdrawn the service in the meantime.
    if isWithdrawn { registration.unregister() }
  }

  func withdraw() {
    let former = state.withLock { state in
      defer { state = .withdrawn }
      return state
    }
    if case .registered(let registration) = former { registration.unregister() }
  }

  func register(in registry: InitializerRegistry) {
    if let key { registry.register(key, .instance(service)) } else { registry.register(.instance(service)) }
  }

  /// The conformance of a main-actor type may be limited to the main actor, as ``StepWork`` explains.
  nonisolated(nonsending) func close() async throws {
    if maker as Any is any Initializable { try await closeHere() } else { try await closeOnMainActor() }
  }

  private nonisolated(nonsending) func closeHere() async throws { try await maker.shutDown(service) }
  @MainActor private func closeOnMainActor() async throws { try await closeHere() }
}
