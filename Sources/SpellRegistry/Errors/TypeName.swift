/// The names of types as a person writes them: `any Tracker`, `Clock?`.
package enum TypeName {
  /// The name of a type without its module; costs a few microseconds, so it is for messages and drawings.
  package static func of(_ type: any Any.Type) -> String {
    if let optional = type as? any OptionalValue.Type {
      let wrapped = of(optional.wrappedType)
      return wrapped.hasPrefix("any ") ? "(\(wrapped))?" : "\(wrapped)?"
    }
    // As `String(describing:)`, which asks first for three conformances of the metatype, with a look at each of the program.
    let name = _typeName(type, qualified: false)
    if name.hasPrefix("any ") { return withArgument(name) }
    let isPlain = name == "Any" || name == "AnyObject"
    return !isPlain && isExistential(type) ? "any \(name)" : name
  }

  /// `any Clock<Duration>` for `any Clock<Self.Clock.Duration == Duration>`.
  ///
  /// With several arguments, the runtime's order isn't known to be that of the source, so the name stays.
  private static func withArgument(_ name: String) -> String {
    let requirements = name.ranges(of: " == ")
    guard requirements.count == 1, let start = name.firstRange(of: "<Self."), let end = requirements.first,
      start.upperBound <= end.lowerBound
    else { return name }
    return name[..<start.lowerBound] + "<" + name[end.upperBound...]
  }

  /// Whether the type is that of values that have a protocol.
  ///
  /// The only sign that the standard library shows: its metatype is a `.Protocol`.
  private static func isExistential(_ type: any Any.Type) -> Bool {
    _typeName(Swift.type(of: type), qualified: false).hasSuffix(".Protocol")
  }

  /// Whether every value of the type is an object: it is a class, or a protocol that only classes conform to.
  package static func isHeldByReference(_ type: any Any.Type) -> Bool {
    if type is any AnyObject.Type { return true }
    // Any type may be an error, which is held in a box of its own.
    guard isExistential(type), type != (any Error).self else { return false }
    // Values of a protocol for any type have room for three words and the type, then a word for each protocol; for
    // classes, room for the object instead.
    func size<Value>(of _: Value.Type) -> Int { MemoryLayout<Value>.size / MemoryLayout<UInt>.size }
    let words = _openExistential(type, do: size)
    let name = String(describing: type)
    let protocols = name == "Any" || name == "AnyObject" ? 0 : name.split(separator: "&").count
    return words < 4 || words != 4 + protocols
  }

  /// The type as it is written as a value: `Clock.self`, `(any Tracker).self`.
  package static func source(of type: any Any.Type) -> String {
    let name = of(type)
    return name.hasPrefix("any ") ? "(\(name)).self" : "\(name).self"
  }
}
