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
  /// Whether the first value is an assigned one, which a re-injection doesn't replace.
  let isAssigned: Bool
  /// The replacement of the property's first value.
  let later = Lock(Later.unused)
  /// Whether the cell's own memory contains a value, the property's first, which the cell's deinitializer destroys.
  ///
  /// The value stays in the memory after another one has taken its place. The thread that made the value sets the flag
  /// with releasing order. Other threads may therefore read the value after they load the flag with acquiring order.
  let hasFirstValue = Atomic(false)

  /// The value that has taken the place of the property's first value.
  enum Later: ~Copyable, Sendable {
    /// The first value, if there is one, is in force.
    case unused
    case value(ValueCell)
    /// The former value was dropped, and there is no new one yet.
    case nothing
  }

  /// The target of `link`, read through a property of this struct to avoid retaining the link.
  var target: (registry: InitializerRegistry, isWeak: Bool)? { link.target }
}
