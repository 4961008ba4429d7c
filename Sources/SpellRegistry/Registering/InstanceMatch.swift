/// The property types that an instance serves.
public enum InstanceMatch: Sendable {
  /// The instance serves only the type that it is registered for.
  case itsType
  /// The instance serves the type that it is registered for, and every superclass and protocol of the instance.
  ///
  /// In one registry, a registration for exactly the requested type wins over the instance if container and name match
  /// equally well. This doesn't hold for another instance with `as: .anySupertype`: the newer of the two instances
  /// wins. A conformance that is isolated to an actor doesn't count.
  case anySupertype
}
