/// The choice of requested types for which a registered instance is used.
public enum InstanceMatch: Sendable {
  /// The instance is used only for requests of the type for which it is registered.
  case itsType
  /// Requests for the registered type, and for any superclass or protocol of the instance, get the instance.
  ///
  /// In one registry, a registration for exactly the requested type takes precedence over the instance if both match
  /// the request's container and name equally well. An exception is a registration that is itself an instance with
  /// `as: .anySupertype`: the newer of the two instances takes precedence. A conformance that is isolated to an actor
  /// doesn't count.
  case anySupertype
}
