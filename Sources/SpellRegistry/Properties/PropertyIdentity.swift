/// The identity of one object's wrapped property: the address of its storage, and the place of its declaration.
public struct PropertyIdentity {
  /// An address that is compared, and never followed.
  package let address: UInt
  package let place: SourcePlace

  /// Creates the identity of a property.
  ///
  /// - Parameters:
  ///   - address: An address that this property's storage has and no other; only compared, never read.
  ///   - place: Where the property is declared; the same for that property in every instance.
  public init(address: UnsafeRawPointer, place: SourcePlace) {
    self.init(UInt(bitPattern: address), at: place)
  }

  @usableFromInline init(_ address: UInt, at place: SourcePlace) {
    self.address = address
    self.place = place
  }
}
