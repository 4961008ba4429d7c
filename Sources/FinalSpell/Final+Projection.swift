internal import SpellRegistry

extension Final {
  /// What `$property` offers.
  public struct Projection {
    let final: Final
    /// The object that holds the property, if one does.
    let container: AnyObject?

    /// Whether the property has its value.
    public var isAssigned: Bool { final.storage.hasValue }

    /// The value, or nil until there is one.
    ///
    /// Asks no registration.
    public var value: Value? { final.storage.value }

    /// Assigns the value.
    ///
    /// In a struct this assigns for every copy that shares the storage; `=` assigns one copy apart.
    ///
    /// - Throws: ``FinalError`` where there is a value already, which stays.
    public func assign(_ value: Value) throws(FinalError) { try final.tryAssigning(value, in: container) }
  }
}
