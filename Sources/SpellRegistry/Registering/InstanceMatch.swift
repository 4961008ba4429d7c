/// The property types that an instance serves.
public enum InstanceMatch: Sendable {
  /// The type it is registered for, and no other.
  case itsType
  /// Every superclass and protocol it has, if nothing is registered for exactly the property's type.
  ///
  /// A protocol to which it conforms on one actor only doesn't count.
  case anySupertype
}
