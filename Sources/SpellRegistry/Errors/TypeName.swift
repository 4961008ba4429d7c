/// The names of types as they are written in source code: `any Tracker`, `Clock?`.
package enum TypeName {
  /// Returns the name of a type without its module; takes a few microseconds, so it is for messages and drawings.
  package static func of(_ type: any Any.Type) -> String {
    if let optional = type as? any OptionalValue.Type {
      let wrapped = of(optional.wrappedType)
      return wrapped.hasPrefix("any ") ? "(\(wrapped))?" : "\(wrapped)?"
    }
    // `String(describing:)` gives the same name, but first looks for three conformances among all of the program's.
    let name = _typeName(type, qualified: false)
    if name.hasPrefix("any ") { return withArgument(name) }
    let isPlain = name == "Any" || name == "AnyObject"
    return !isPlain && isExistential(type) ? "any \(name)" : name
  }

  /// Returns `any Clock<Duration>` for `any Clock<Self.Clock.Duration == Duration>`.
  ///
  /// Returns a name with several arguments as it is, because their order may not be that of the source code.
  private static func withArgument(_ name: String) -> String {
    let requirements = name.ranges(of: " == ")
    guard requirements.count == 1, let start = name.firstRange(of: "<Self."), let end = requirements.first,
      start.upperBound <= end.lowerBound
    else { return name }
    return name[..<start.lowerBound] + "<" + name[end.upperBound...]
  }

  /// Returns whether the type is an existential type, such as `any Tracker`.
  ///
  /// The standard library shows this only by the name of the metatype, which ends in `.Protocol`.
  private static func isExistential(_ type: any Any.Type) -> Bool {
    _typeName(Swift.type(of: type), qualified: false).hasSuffix(".Protocol")
  }

  /// Returns whether every value of the type is an object, as for a class or a protocol that only classes conform to.
  package static func isHeldByReference(_ type: any Any.Type) -> Bool {
    if type is any AnyObject.Type { return true }
    // A value of any type can be an error, and `any Error` always has one pointer, to a box.
    guard isExistential(type), type != (any Error).self else { return false }
    // An existential has three words for the value, one for its type, and one for each protocol. If only classes
    // conform to a protocol, one word for the object takes the place of the first four.
    func size<Value>(of _: Value.Type) -> Int { MemoryLayout<Value>.size / MemoryLayout<UInt>.size }
    let words = _openExistential(type, do: size)
    let name = String(describing: type)
    let protocols = name == "Any" || name == "AnyObject" ? 0 : name.split(separator: "&").count
    return words < 4 || words != 4 + protocols
  }

  /// Returns the type as an expression in source code: `Clock.self`, `(any Tracker).self`.
  package static func source(of type: any Any.Type) -> String {
    let name = of(type)
    return name.hasPrefix("any ") ? "(\(name)).self" : "\(name).self"
  }
}
