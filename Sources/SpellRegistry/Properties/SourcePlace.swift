/// A location in source code, such as `App/Page.swift:3`.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline let fileID: StaticString
  @usableFromInline let line: UInt32
  @usableFromInline let column: UInt32

  /// Creates a location from the values of `#fileID`, `#line` and `#column`.
  @inlinable public init(fileID: StaticString, line: UInt, column: UInt = 0) {
    self.fileID = fileID
    self.line = UInt32(truncatingIfNeeded: line)
    self.column = UInt32(truncatingIfNeeded: column)
  }

  /// The location as `Module/File.swift:line`, without the column.
  public var description: String { "\(fileID):\(line)" }

  /// Returns whether two locations are equal, comparing the file names by address.
  ///
  /// Two values for one location compare as unequal if the program contains two copies of the file name. Values for
  /// different locations never compare as equal.
  public static func == (left: SourcePlace, right: SourcePlace) -> Bool {
    unsafe left.fileID.utf8Start == right.fileID.utf8Start && left.line == right.line && left.column == right.column
  }

  /// Feeds the components that `==` compares into a hasher.
  public func hash(into hasher: inout Hasher) {
    unsafe hasher.combine(fileID.utf8Start)
    hasher.combine(line)
    hasher.combine(column)
  }
}
