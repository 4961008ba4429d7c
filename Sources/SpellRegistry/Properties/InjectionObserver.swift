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
  /// The method is called once for each injection, in the isolation of the code that reads the property, which is the
  /// object's own isolation. No lock is held, and the value is already stored, so the method can read the property.
  /// Don't read an `@Injected(.everyRead)` property, which stores nothing: each read is an injection that calls this
  /// method again.
  ///
  /// - Precondition: Reflection must find the name of each injected property. It finds none in a class with a custom
  ///   mirror, or in a program built without reflection metadata.
  func didInject(_ value: Any, intoProperty name: String)
}
