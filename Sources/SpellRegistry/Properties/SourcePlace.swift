internal import Support

/// A location in source code, such as `App/Page.swift:3`.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline package let fileID: StaticString
  @usableFromInline package let line: UInt32
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

extension SourcePlace {
  private static let declared = Lock<Set<SourcePlace>>([])

  /// Returns the place of a new key, or stops the program if the place already has a key.
  ///
  /// The program stops if a key is declared as a computed property, for example. Each use of the property would create
  /// another key, so a registration for the first key would have no effect on the second key.
  static func declared(_ fileID: StaticString, _ line: UInt, _ column: UInt) -> SourcePlace {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    if declared.withLock({ $0.insert(place).inserted }) { return place }
    trap(
      """
      A declared key is made a second time at \(place), so what is registered for the first isn't used for the second. \
      Declare it as a constant that is made once: static let name = InjectionKey { … }. A function that makes keys \
      takes the parameters fileID, line and column, with #fileID, #line and #column as defaults, and passes them on.
      """, at: place)
  }
}
