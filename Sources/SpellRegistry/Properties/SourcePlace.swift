/// A place in source, as `Module/File.swift:line`.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline let fileID: StaticString
  @usableFromInline let line: UInt32
  @usableFromInline let column: UInt32

  /// The place that `#fileID`, `#line` and `#column` tell.
  @inlinable public init(fileID: StaticString, line: UInt, column: UInt = 0) {
    self.fileID = fileID
    self.line = UInt32(truncatingIfNeeded: line)
    self.column = UInt32(truncatingIfNeeded: column)
  }

  /// `Module/File.swift:line`.
  public var description: String { "\(fileID):\(line)" }

  /// Whether both are the same place, by the address of the file's name.
  ///
  /// Equal places may compare as different; different places never compare as equal.
  public static func == (left: SourcePlace, right: SourcePlace) -> Bool {
    unsafe left.fileID.utf8Start == right.fileID.utf8Start && left.line == right.line && left.column == right.column
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    unsafe hasher.combine(fileID.utf8Start)
    hasher.combine(line)
    hasher.combine(column)
  }
}
