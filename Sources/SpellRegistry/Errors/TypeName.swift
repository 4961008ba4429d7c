internal import Support

/// A namespace for functions that return the names of types as in source code, such as `any Tracker` and `Clock?`.
///
/// The functions start from the names that the runtime reports, so some results differ from source code. For example,
/// generic arguments lack `any`, and all generic arguments in a protocol composition come after the last protocol.
package enum TypeName {
  /// Returns the name of a type without its module.
  ///
  /// A call takes a few microseconds, so the function is meant for messages and diagrams.
  ///
  /// - Parameter isNested: Whether the name of a nested type includes its enclosing types, as in `Menu.Item`. The name
  ///   of a protocol with generic arguments never includes its enclosing types.
  package static func of(_ type: any Any.Type, isNested: Bool = false) -> String {
    if let optional = type as? any OptionalValue.Type { return operand(optional.wrappedType, isNested: isNested) + "?" }
    if let factory = type as? any FactoryType.Type {
      let types = [factory.madeType] + factory.argumentTypes
      return "ArgumentFactory<\(types.map { of($0, isNested: isNested) }.joined(separator: ", "))>"
    }
    // `String(describing:)` returns the same name, but first searches the whole program for three conformances.
    let plain = _typeName(type, qualified: false)
    if plain.hasPrefix("any ") { return withArgument(plain) }
    let name = isNested ? withoutModules(_typeName(type, qualified: true)) : plain
    let isPlain = name == "Any" || name == "AnyObject"
    return !isPlain && isExistential(type) ? "any \(name)" : name
  }

  /// Returns the name as in source code: `any Clock<Duration>` for `any Clock<Self.Clock.Duration == Duration>`.
  ///
  /// A name with several arguments is returned unchanged, because the runtime may order the arguments differently than
  /// source code does. For the composition `any A<Int> & B`, the result is `any A & B<Int>`.
  private static func withArgument(_ name: String) -> String {
    let bytes = Array(name.utf8)[...]
    let open = Array("<Self.".utf8)
    guard let start = bytes.start(ofPart: open), let end = bytes.start(ofPart: equals) else { return name }
    let argument = bytes[end...].dropFirst(equals.count)
    if argument.contains(part: equals) || end - start < open.count { return name }
    return String(decoding: bytes[...start] + argument, as: UTF8.self)
  }

  private static let equals = Array(" == ".utf8)

  /// Returns whether the type is an existential type without generic arguments, such as `any Tracker`.
  ///
  /// The standard library reveals such a type only by the name of its metatype, which ends in `.Protocol`. For a type
  /// with arguments, such as `any Clock<Duration>`, the function returns false.
  private static func isExistential(_ type: any Any.Type) -> Bool {
    _typeName(Swift.type(of: type), qualified: false).hasSuffix(".Protocol")
  }

  /// Returns whether every value of the type is an object, as for a class or a protocol that only classes conform to.
  ///
  /// For a composition that has generic arguments and more than two protocols, the function always returns false.
  package static func isHeldByReference(_ type: any Any.Type) -> Bool {
    if type is any AnyObject.Type { return true }
    let name = _typeName(type, qualified: false)
    let hasArguments = name.hasPrefix("any ")
    // A metatype isn't an object. `any Error` always has the size of one pointer to a box, although values of any type
    // can be errors.
    guard hasArguments || isExistential(type), !name.hasSuffix(".Type"), type != (any Error).self else { return false }
    // An existential has three words for the value, one for its type, and one for each protocol. If only classes
    // conform to a protocol, one word for the object replaces the first four words.
    func size<Value>(of _: Value.Type) -> Int { MemoryLayout<Value>.size / MemoryLayout<UInt>.size }
    let words = _openExistential(type, do: size)
    if words < 4 { return true }
    // The arguments may contain compositions of their own, so the name doesn't show the number of protocols.
    if hasArguments { return false }
    let protocols = name == "Any" || name == "AnyObject" ? 0 : name.split(separator: "&").count
    return words != 4 + protocols
  }

  /// Returns the type as an expression in source code: `Clock.self`, `(any Tracker).self`.
  package static func source(of type: any Any.Type) -> String { operand(type, isNested: true) + ".self" }

  /// The names that source code can use for a type only between backticks.
  private static let keywords = """
    as associatedtype break case catch class continue default defer deinit do else enum extension fallthrough \
    false fileprivate for func guard if import in init inout internal is let nil operator precedencegroup \
    private protocol public repeat rethrows return self static struct subscript super switch throw throws true \
    try typealias var where while
    """.split(separator: " ")

  /// Returns the name of a function type's result, such as `Clock` for `(Int) -> Clock`; nil if the type isn't a
  /// function.
  static func functionResult(of type: any Any.Type, qualified: Bool) -> String? {
    let name = _typeName(type, qualified: qualified)
    // The first byte of the name rules out most types that aren't functions.
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

  /// Returns the name of a type in a form that `.self` or `?` can follow.
  ///
  /// Function types, and names that begin with `any`, are put in parentheses.
  private static func operand(_ type: any Any.Type, isNested: Bool) -> String {
    if type == Void.self { return "Void" }
    let described = of(type, isNested: isNested)
    // The order of several arguments is that of the runtime, which is usually that of source code.
    let name = Array(described.utf8)[...].contains(part: equals) ? withArguments(described) : quoted(described)
    return name.hasPrefix("any ") || isFunction(type) ? "(\(name))" : name
  }

  /// Returns the name `any Route<Self.Route.From == A, Self.Route.To == B>` as `any Route<A, B>`.
  private static func withArguments(_ name: String) -> String {
    var (rest, result) = (Array(name.utf8)[...], [UInt8]())
    while let this = rest.start(ofPart: Array("Self.".utf8)), let end = rest[this...].start(ofPart: equals) {
      result += rest[..<this]
      rest = rest[end...].dropFirst(equals.count)
    }
    return String(decoding: result + rest, as: UTF8.self)
  }

  /// Returns a name whose components are quoted where they are keywords.
  private static func quoted(_ name: String) -> String {
    if !name.utf8.contains(UInt8(ascii: ".")), !isKeyword(name[...]) { return name }
    return name.split(separator: ".").map { isKeyword($0) ? "`\($0)`" : String($0) }.joined(separator: ".")
  }

  /// Returns whether a component of a type's name is a keyword, which begins with a lowercase letter, unlike most types.
  private static func isKeyword(_ name: Substring) -> Bool {
    guard let first = name.utf8.first, first >= UInt8(ascii: "a") else { return false }
    return keywords.contains(name)
  }

  /// Returns a qualified name without the names of modules, and without the scopes around local types.
  ///
  /// `Shop.Cart`, `(extension in App):Shop.Cart` and `Shop.(unknown context at $10a4).Cart` all become `Cart`.
  private static func withoutModules(_ name: String) -> String {
    let (local, extended) = (Array("(unknown context at $".utf8), Array("(extension in ".utf8))
    var rest = Array(name.utf8)[...]
    var result: [UInt8] = []
    // While a dotted path is being read, `start` is the path's index in `result`, and `isModule` tells whether the next
    // component of the path is the module. Outside of a path, `start` is nil.
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

  /// Returns whether a byte can be part of an identifier.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
    default: false
    }
  }
}
