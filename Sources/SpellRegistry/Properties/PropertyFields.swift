internal import Support
internal import Synchronization

/// The state of a property apart from its gate and its value.
struct PropertyFields: ~Copyable {
  /// The type of the value in the cell.
  let type: any Any.Type
  /// The type that the property asks for.
  ///
  /// It differs from `type` if the cell keeps the value in another form, such as a weak reference.
  let propertyType: any Any.Type
  let place: SourcePlace
  /// A declared key to resolve instead of the type.
  let key: InjectionKeys?
  /// The name that requests use instead of the property's own name.
  let requestedName: RequestedName?
  let link: RegistryLink
  /// The cell that replaced the wrapper's own cell, if the value was injected again, dropped or replaced while other
  /// threads may have been reading it.
  let newer = Lock(Newer(cell: nil))
  /// Whether the cell contains a value that has to be destroyed, even if another cell has replaced this one.
  ///
  /// Relaxed, like `isAssigned`: a thread sets the flag before it settles the gate, and others read the flag only after
  /// that.
  let hasValue = Atomic(false)
  /// Whether the value was assigned, so that a re-injection doesn't replace it.
  let isAssigned = Atomic(false)

  /// A cell that has replaced another one; nil if none has.
  ///
  /// `@unchecked Sendable`: a cell's fields are constants, atomics or values in a lock, and its gate guards the value.
  struct Newer: @unchecked Sendable { let cell: PropertyCell? }

  /// The target of the link, which a call of this struct's own reads in place, without retaining the link.
  var target: (registry: InitializerRegistry, isWeak: Bool)? { link.target }
}
