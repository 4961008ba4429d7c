/// A weak reference to an object.
///
/// `@unchecked Sendable`: no code assigns `object` after `init`, the runtime loads a weak reference atomically, and
/// only code that requires `Sendable` values passes the object to other threads.
package struct WeakReference: @unchecked Sendable {
  package private(set) weak var object: AnyObject?

  package init(_ object: AnyObject?) { self.object = object }

  /// Creates a reference to an object, or to the object that an Optional wraps.
  ///
  /// - Precondition: `value` is an object, or an Optional that contains an object.
  package init(_ value: Any, declaredBy declaration: @autoclosure () -> String) {
    let content = (value as? any OptionalValue).map(\.content) ?? value
    guard let content, type(of: content) is any AnyObject.Type else {
      trap(
        """
        \(declaration()) got a \(TypeName.of(type(of: value))), which isn't an object, and only an object can be held \
        weakly. Keep it in another way.
        """)
    }
    object = content as AnyObject
  }
}
