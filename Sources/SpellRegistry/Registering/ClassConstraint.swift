/// The class to whose properties a registration is limited, with or without its subclasses.
@usableFromInline package struct ClassConstraint: Equatable, Sendable {
  private let erased: ErasedType
  package let subclasses: Bool

  init(_ type: any AnyObject.Type, subclasses: Bool) { (erased, self.subclasses) = (ErasedType(type), subclasses) }

  package var type: any Any.Type { erased.type }

  /// Returns whether the registration is for objects whose class is `container`.
  package func includes(_ container: any AnyObject.Type) -> Bool {
    subclasses ? isSuperclass(of: container) : ObjectIdentifier(container) == erased.id
  }

  func isSuperclass(of other: any AnyObject.Type) -> Bool {
    func isSuperclass<Class>(_: Class.Type) -> Bool { other is Class.Type }
    return _openExistential(type, do: isSuperclass)
  }

  /// Returns whether this constraint's class is a subclass of the other constraint's class, or the same class.
  func isNarrower(than other: ClassConstraint) -> Bool {
    (type as? any AnyObject.Type).map(other.isSuperclass(of:)) ?? false
  }
}
