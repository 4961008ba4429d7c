internal import SpellRegistry

/// An `@Injected` property whose type only the runtime knows.
protocol InjectableProperty: NamedProperty {
  /// Makes the value; the result stores it, and returns what calls the hooks.
  func prepare(
    in container: AnyObject, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)?
  /// Injects a service, if it is of the property's type; says whether it was.
  func inject(_ service: any Sendable, in container: AnyObject) throws(InjectionError) -> Bool
}

extension Injected: InjectableProperty {

  func prepare(
    in container: AnyObject, from registry: InitializerRegistry
  ) throws(InjectionError) -> (() throws(InjectionError) -> () -> Void)? {
    guard case .once = policy else { return nil }
    return try storage.prepareValue(in: container, from: registry)
  }

  func inject(_ service: any Sendable, in container: AnyObject) throws(InjectionError) -> Bool {
    guard let value = service as? Value else { return false }
    if case .weak(let weakValue) = policy {
      weakValue.hold(value)
    } else if !holds(service) {
      try storage.inject(value, in: container)
    }
    return true
  }

  /// Whether the property has this very object already.
  private func holds(_ service: any Sendable) -> Bool {
    guard let value = storage.value, type(of: service as Any) is any AnyObject.Type else { return false }
    let held = (value as? any OptionalValue).map(\.content) ?? value
    return (held as AnyObject?) === (service as AnyObject)
  }
}

enum InjectableProperties {
  /// The `@Injected` properties of an object, superclasses' first.
  static func of(_ object: AnyObject) -> [(name: String, wrapper: any InjectableProperty)] {
    WrappedProperties.of(object, as: (any InjectableProperty).self)
  }
}
