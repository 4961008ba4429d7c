/// An object that somebody else holds.
///
/// `@unchecked Sendable`: weak references are themselves safe to read while the object goes, and the object is handed
/// to other threads only by what is limited to `Sendable` values: shared scopes, and wrappers of such values.
package struct WeakReference: @unchecked Sendable {
  package private(set) weak var object: AnyObject?

  /// - Precondition: `value` is an object.
  package init(_ value: Any, declaredBy declaration: @autoclosure () -> String) {
    guard type(of: value) is any AnyObject.Type else {
      trap(
        """
        \(declaration()) got a \(TypeName.of(type(of: value))), which is no object, and only an object can be held \
        weakly. Keep it in another way.
        """)
    }
    object = value as AnyObject
  }
}
