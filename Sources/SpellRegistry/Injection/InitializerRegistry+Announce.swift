extension InitializerRegistry {
  /// Tells whoever hears of injections that a property has a value: the container at `point`, where it is an
  /// ``InjectionObserver``, then the hooks of this registry.
  ///
  /// For a wrapper that puts values into its property by other ways than ``PropertyStorage/makeValue(in:followsReinjection:fallback:)``,
  /// which tells them itself. Call it after the value is stored, with no lock held, in the container's isolation:
  ///
  /// ```swift
  /// try storage.assign(value, in: container, exclusively: true)
  /// storage.declaration.registry.announce(value, at: storage.point(in: container))
  /// ```
  ///
  /// - Precondition: Where the container observes, reflection shows the property's name; see ``NamedProperty``.
  public func announce<Value>(_ value: Value, at point: InjectionPoint) {
    announce(value, to: point.container) { point }
  }

  /// Tells whoever hears of injections that a property of a container has a value.
  func announce<Value>(_ value: Value, to container: AnyObject?, at point: () -> InjectionPoint) {
    if let container, Observers.include(type(of: container)), let observer = container as? any InjectionObserver {
      observer.didInject(value, intoProperty: point().nameForObserver)
    }
    hooks.callAll(value, at: point())
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
    guard case .wrapped(let identity, _) = property else { return nil }
    return identity.place
  }
}
