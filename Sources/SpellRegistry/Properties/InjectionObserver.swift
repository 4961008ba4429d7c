/// A type whose objects are notified of each value that is injected into their properties.
///
/// ```swift
/// final class Page: InjectionObserver {
///   @Injected var tracker: any Tracker
///   func didInject(_ value: Any, intoProperty name: String) { log(name) }
/// }
/// ```
public protocol InjectionObserver: AnyObject {
  /// Handles an injection; called once for each injection, after the registration's hooks and the property's hook.
  ///
  /// The call runs in the isolation in which the property was read, which is the object's own. No lock is held, and the
  /// value is already stored, so this method can read the property.
  func didInject(_ value: Any, intoProperty name: String)
}
