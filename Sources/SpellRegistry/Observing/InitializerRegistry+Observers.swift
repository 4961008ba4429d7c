extension InitializerRegistry {
  /// Reports that a property has a value: to the object that holds it, if that is an ``InjectionObserver``, then to the
  /// hooks of this registry.
  ///
  /// For a wrapper that stores values itself; ``PropertyStorage`` reports what it makes. Call it after the value is stored,
  /// with no lock held, in the object's isolation:
  ///
  /// ```swift
  /// storage = storage.replaced(with: value)
  /// storage.declaration.registry.notifyObservers(of: value, at: storage.point(in: container))
  /// ```
  ///
  /// - Precondition: If the object observes, reflection shows the property's name; see ``NamedProperty``.
  public func notifyObservers<Value>(of value: Value, at point: InjectionPoint) {
    notifyObservers(of: value, in: point.container) { point }
  }

  func notifyObservers<Value>(of value: Value, in container: AnyObject?, at point: () -> InjectionPoint) {
    if let container, ObserverCache.observes(type(of: container)) { notifyObserver(container, of: value, at: point()) }
    hooks.callAll(value, at: point())
  }

  private func notifyObserver<Value>(_ container: AnyObject, of value: Value, at point: InjectionPoint) {
    // By way of `Any`: a cast from `AnyObject` doesn't check that a conformance is isolated to an actor that isn't this one.
    if let observer = (container as Any) as? any InjectionObserver {
      observer.didInject(value, intoProperty: point.nameForObserver)
    }
  }
}

extension InjectionPoint {
  fileprivate var nameForObserver: String {
    guard let name = declaredName else {
      trap(
        """
        \(TypeName.of(containerType ?? AnyObject.self)) observes its injections, but reflection does not show the name \
        of the property declared here: build it with reflection metadata and without a custom mirror, and conform the \
        property's wrapper to NamedProperty.
        """, at: place)
    }
    return name
  }

  private var place: SourcePlace? {
    switch property {
    case .wrapped(let identity, _), .found(let identity, _, _): identity.place
    case .unnamed, .named: nil
    }
  }
}
