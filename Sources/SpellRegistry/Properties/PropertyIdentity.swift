/// The identity of a wrapped property in one instance: a storage address, and the source location of the declaration.
public struct PropertyIdentity {
  /// An address that is only compared, never dereferenced.
  package let address: UInt
  package let place: SourcePlace

  /// Creates the identity of a property.
  ///
  /// - Parameters:
  ///   - address: The address of the property's storage, which no other storage has. It is only compared, never
  ///     dereferenced.
  ///   - place: The source location of the property's declaration, which all instances share.
  public init(address: UnsafeRawPointer, place: SourcePlace) {
    self.init(UInt(bitPattern: address), at: place)
  }

  @usableFromInline init(_ address: UInt, at place: SourcePlace) {
    (self.address, self.place) = (address, place)
  }
}
