/// The identity of one object's wrapped property: its storage address and the source location of its declaration.
public struct PropertyIdentity {
  /// An address that is only compared, never dereferenced.
  package let address: UInt
  package let place: SourcePlace

  /// Creates the identity of a property.
  ///
  /// - Parameters:
  ///   - address: An address that no other property's storage has. It is only compared, never dereferenced.
  ///   - place: The source location of the property's declaration, which all instances share.
  public init(address: UnsafeRawPointer, place: SourcePlace) {
    self.init(UInt(bitPattern: address), at: place)
  }

  @usableFromInline init(_ address: UInt, at place: SourcePlace) {
    (self.address, self.place) = (address, place)
  }
}
