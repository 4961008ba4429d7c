/// The property types that an instance serves.
public enum InstanceMatch: Sendable {
  /// Only the type that the instance is registered for.
  case itsType
  /// Also every superclass and protocol of the instance; a registration for exactly the property's type wins a tie.
  ///
  /// A protocol doesn't count if the instance conforms to it on one actor only.
  case anySupertype
}
