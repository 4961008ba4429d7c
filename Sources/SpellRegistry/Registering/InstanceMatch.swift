/// The property types that an instance serves.
public enum InstanceMatch: Sendable {
  /// Only the type that the instance is registered for.
  case itsType
  /// The type that the instance is registered for, and every superclass and protocol of the instance.
  ///
  /// If both match equally well, a registration for exactly the property's type wins over the instance. A conformance
  /// that is isolated to an actor doesn't count.
  case anySupertype
}
