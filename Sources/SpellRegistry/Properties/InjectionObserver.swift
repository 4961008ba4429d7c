/// An object that is told of every value that is injected into it.
///
/// ```swift
/// final class Page: InjectionObserver {
///   @Injected var tracker: any Tracker
///   func didInject(_ value: Any, intoProperty name: String) { log(name) }
/// }
/// ```
public protocol InjectionObserver: AnyObject {
  /// Called once for each injection, after the registration's and the property's own hooks, with no lock held.
  ///
  /// It runs in the isolation in which the property was read, which is the enclosing object's own. The value is already
  /// stored: reading the property here returns it.
  func didInject(_ value: Any, intoProperty name: String)
}
