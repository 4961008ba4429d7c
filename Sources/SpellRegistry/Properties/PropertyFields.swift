internal import Support
internal import Synchronization

/// The state in a `PropertyCell`, except for the `CreationGate` and the value.
struct PropertyFields: ~Copyable {
  /// The type of the value that the property's `PropertyCell` stores.
  let type: any Any.Type
  /// The type of the value that the property requests from its registry.
  ///
  /// It differs from `type` if the cell stores the value in another form, such as a weak reference.
  let propertyType: any Any.Type
  let place: SourcePlace
  /// The declared key to resolve; nil to resolve the property's type.
  let key: InjectionKeys?
  /// The name with which the property asks the registry; nil to use the property's own name.
  let requestedName: String?
  let link: RegistryLink
  /// The property's newest cell, if it isn't the cell in the property wrapper.
  ///
  /// A new cell is made when the value is injected again, dropped or replaced, because other threads may be reading the
  /// old value.
  let newer = Lock(Newer(cell: nil))
  /// Whether the cell's memory contains a value, which the deinitializer of ``PropertyCell`` has to destroy.
  ///
  /// The value stays in the memory while another thread makes a new value, and after another cell has replaced this
  /// cell. A thread sets the flag with releasing order after it writes the value. Other threads may therefore read the
  /// value after they load the flag with acquiring order. When the deinitializer reads the flag, no other thread uses
  /// the cell any longer.
  let hasValue = Atomic(false)
  /// Whether the value was assigned, so that a re-injection doesn't replace it.
  ///
  /// Relaxed ordering suffices: a thread sets the flag before it marks the gate as ready, and other threads read the
  /// flag only after they find the gate ready.
  let isAssigned = Atomic(false)

  /// A reference to a property's newest cell; `cell` is nil if the cell in the property wrapper was never replaced.
  ///
  /// `@unchecked Sendable`: the fields of a cell are constants, atomics or values in a lock, and a `CreationGate`
  /// guards the cell's value.
  struct Newer: @unchecked Sendable { let cell: PropertyCell? }

  /// The target of `link`, read through a property of this struct to avoid retaining the link.
  var target: (registry: InitializerRegistry, isWeak: Bool)? { link.target }
}
