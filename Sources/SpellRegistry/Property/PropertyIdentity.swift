/// A place in source, as `Module/File.swift:line`.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  let fileID: StaticString
  let line: UInt32
  let column: UInt32

  /// The place that `#fileID`, `#line` and `#column` tell.
  @inlinable public init(fileID: StaticString, line: UInt, column: UInt = 0) {
    self.init(fileID: fileID, shortLine: UInt32(truncatingIfNeeded: line), UInt32(truncatingIfNeeded: column))
  }

  @usableFromInline init(fileID: StaticString, shortLine: UInt32, _ column: UInt32) {
    self.fileID = fileID
    line = shortLine
    self.column = column
  }

  /// `Module/File.swift:line`.
  public var description: String { "\(fileID):\(line)" }

  /// Whether both are the same place, by the address of the file's name: one place may so be taken for two, never two
  /// for one.
  public static func == (left: SourcePlace, right: SourcePlace) -> Bool {
    left.fileID.utf8Start == right.fileID.utf8Start && left.line == right.line && left.column == right.column
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(fileID.utf8Start)
    hasher.combine(line)
    hasher.combine(column)
  }
}

/// The identity of one object's wrapped property: the address of its storage, and the place of its declaration.
public struct PropertyIdentity {
  /// An address that is compared, and never followed.
  struct Address: Hashable, Sendable {
    private let bits: UInt
    init(_ pointer: UnsafeRawPointer) { bits = UInt(bitPattern: pointer) }
  }

  let address: Address
  package let place: SourcePlace

  /// Creates the identity of a property.
  ///
  /// - Parameters:
  ///   - address: An address that this property's storage has and no other; only compared, never read.
  ///   - place: Where the property is declared; the same for that property in every instance.
  public init(address: UnsafeRawPointer, place: SourcePlace) {
    self.address = Address(address)
    self.place = place
  }
}
