internal import Support

/// The names of types as they are written in source code: `any Tracker`, `Clock?`.
package enum TypeName {
  /// Returns the name of a type without its module; takes a few microseconds, so it is for messages and drawings.
  ///
  /// - Parameter isNested: Whether the name includes the types that the type is nested in, as source code does.
  package static func of(_ type: any Any.Type, isNested: Bool = false) -> String {
    if let optional = type as? any OptionalValue.Type { return operand(optional.wrappedType, isNested: isNested) + "?" }
    if let factory = type as? any FactoryType.Type {
      let types = [factory.madeType] + factory.argumentTypes
      return "ArgumentFactory<\(types.map { of($0, isNested: isNested) }.joined(separator: ", "))>"
    }
    // `String(describing:)` gives the same name, but first looks for three conformances among all of the program's.
    let plain = _typeName(type, qualified: false)
    if plain.hasPrefix("any ") { return withArgument(plain) }
    let name = isNested ? withoutModules(_typeName(type, qualified: true)) : plain
    let isPlain = name == "Any" || name == "AnyObject"
    return !isPlain && isExistential(type) ? "any \(name)" : name
  }

  /// Returns `any Clock<Duration>` for `any Clock<Self.Clock.Duration == Duration>`.
  ///
  /// Returns a name with several arguments as it is, because their order may not be that of the source code.
  private static func withArgument(_ name: String) -> String {
    let (equals, open) = (" == ".utf8, "<Self.".utf8)
    guard let start = name.utf8.start(ofPart: open), let end = name.utf8.start(ofPart: equals) else { return name }
    let argument = name.utf8[end...].dropFirst(equals.count)
    if argument.contains(part: equals) || name.utf8.distance(from: start, to: end) < open.count { return name }
    return String(name[..<start]) + "<" + String(name[argument.startIndex...])
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
  package static func source(of type: any Any.Type) -> String { operand(type, isNested: true) + ".self" }

  /// Returns the name of a function type's result, `Clock` for `(Int) -> Clock`; nil for a type that is no function.
  static func functionResult(of type: any Any.Type, qualified: Bool) -> String? {
    let name = _typeName(type, qualified: qualified)
    // Most types are told apart by their first byte.
    guard name.utf8.first == UInt8(ascii: "(") || name.utf8.first == UInt8(ascii: "@"), isFunction(type) else {
      return nil
    }
    var depth = 0
    for index in name.utf8.indices {
      switch name.utf8[index] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: "-") where depth == 0: return String(name[index...].dropFirst("-> ".count))
      default: break
      }
    }
    return nil
  }

  private static func isFunction(_ type: any Any.Type) -> Bool {
    _typeName(Swift.type(of: type), qualified: false) == "(\(_typeName(type, qualified: false))).Type"
  }

  /// Returns the name of a type in a form that `.self` or `?` can follow: existentials and function types are in
  /// parentheses.
  private static func operand(_ type: any Any.Type, isNested: Bool) -> String {
    let name = of(type, isNested: isNested)
    return name.hasPrefix("any ") || isFunction(type) ? "(\(name))" : name
  }

  /// Removes the modules, and the scopes around local types, from a qualified name.
  ///
  /// `Shop.Cart` and `(extension in App):Shop.Cart` become `Cart`; `Shop.(unknown context at $10a4).Cart` does too.
  private static func withoutModules(_ name: String) -> String {
    let (local, extended) = ("(unknown context at $".utf8, "(extension in ".utf8)
    var rest = Array(name.utf8)[...]
    var result: [UInt8] = []
    // The start of the dotted path that is being read, and whether its next component is the module.
    var start: Int?
    var isModule = true
    while let byte = rest.first {
      let isScope = byte == UInt8(ascii: "(")
      if isScope && rest.starts(with: local) {
        // Source code can't name the scope around a local type, so the name begins after that scope.
        rest = rest.dropFirst(local.count).drop(while: isWord).dropFirst(2)
        result.removeSubrange((start ?? result.count)...)
        (start, isModule) = (result.count, false)
      } else if isScope && rest.starts(with: extended) {
        rest = rest.dropFirst(extended.count).drop(while: isWord).dropFirst(2)
        (start, isModule) = (result.count, true)
      } else {
        rest = rest.dropFirst()
        if start == nil && isWord(byte) { (start, isModule) = (result.count, true) }
        if byte == UInt8(ascii: "."), let path = start, isModule {
          result.removeSubrange(path...)
          isModule = false
        } else {
          if !isWord(byte) && byte != UInt8(ascii: ".") { start = nil }
          result.append(byte)
        }
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns whether a byte is part of a name.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
    default: false
    }
  }
}
