/// The identity of one object's wrapped property: the address of its storage, and the place of its declaration.
public struct PropertyIdentity {
  /// An address that is only compared, never dereferenced.
  package let address: UInt
  package let place: SourcePlace

  /// Creates the identity of a property.
  ///
  /// - Parameters:
  ///   - address: An address that no other property's storage has. It is only compared, never dereferenced.
  ///   - place: The place of the property's declaration, which is the same in every instance.
  public init(address: UnsafeRawPointer, place: SourcePlace) {
    self.init(UInt(bitPattern: address), at: place)
  }

  @usableFromInline init(_ address: UInt, at place: SourcePlace) {
    (self.address, self.place) = (address, place)
  }
}
