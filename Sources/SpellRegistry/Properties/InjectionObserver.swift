/// A type whose objects are notified of each value that is injected into their properties.
///
/// ```swift
/// final class Page: InjectionObserver {
///   @Injected var tracker: any Tracker
///   func didInject(_ value: Any, intoProperty name: String) { log(name) }
/// }
/// ```
public protocol InjectionObserver: AnyObject {
  /// Handles one injection, after the hooks of the registration and the property have run.
  ///
  /// The method is called once for each injection. Like the code that reads the property, the method runs in the
  /// object's own isolation. No lock is held, and the value is already stored, so the method can read the property. If
  /// the initializer or a hook has assigned the property, the property has the assigned value instead.
  ///
  /// In this method, don't read an `@Injected(.everyRead)` property. Such a property stores nothing, so each read is an
  /// injection that calls this method again.
  ///
  /// - Precondition: Reflection must find the name of each injected property. It finds none in a class with a custom
  ///   mirror, or in a program built without reflection metadata.
  func didInject(_ value: Any, intoProperty name: String)
}

/// Returns the value as an observer, or nil if its type doesn't conform in the caller's isolation.
///
/// The parameter is an `Any`, because a cast from `AnyObject` ignores the isolation of the conformance. The function is
/// never inlined, because the optimizer would turn an inlined cast into a cast from `AnyObject`.
@inline(never) func observer(_ value: Any) -> (any InjectionObserver)? { value as? any InjectionObserver }

extension InjectionObserver {
  /// Notifies the object of an injection.
  ///
  /// - Precondition: Reflection shows the property's name; see ``NamedProperty``.
  func notify(_ value: Any, at point: InjectionPoint) {
    guard let name = point.declaredName else {
      trap(
        """
        \(TypeName.of(type(of: self))) observes its injections, but reflection does not show the name of the \
        property declared here: build it with reflection metadata and without a custom mirror, and conform the \
        property's wrapper to NamedProperty.
        """, at: point.identity?.place)
    }
    didInject(value, intoProperty: name)
  }
}
