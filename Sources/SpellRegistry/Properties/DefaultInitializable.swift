/// A type with an empty value to start from.
///
/// A `@Lazy` property of such a type, with no expression and nothing registered, makes one:
///
/// ```swift
/// @Lazy var tags: [String]        // []
/// extension Basket: DefaultInitializable {}
/// @Lazy var basket: Basket        // Basket()
/// ```
///
/// The standard library's value types conform; `import Spellbook` adds Foundation's.
public protocol DefaultInitializable {
  /// Makes the empty value.
  init()
}

extension Bool: DefaultInitializable {}
extension Int: DefaultInitializable {}
extension Int8: DefaultInitializable {}
extension Int16: DefaultInitializable {}
extension Int32: DefaultInitializable {}
extension Int64: DefaultInitializable {}
extension UInt: DefaultInitializable {}
extension UInt8: DefaultInitializable {}
extension UInt16: DefaultInitializable {}
extension UInt32: DefaultInitializable {}
extension UInt64: DefaultInitializable {}
extension Int128: DefaultInitializable {}
extension UInt128: DefaultInitializable {}
extension Float: DefaultInitializable {}
extension Double: DefaultInitializable {}
extension String: DefaultInitializable {}
extension Substring: DefaultInitializable {}
extension String.UnicodeScalarView: DefaultInitializable {}
extension Array: DefaultInitializable {}
extension ArraySlice: DefaultInitializable {}
extension ContiguousArray: DefaultInitializable {}
extension Dictionary: DefaultInitializable {}
extension Set: DefaultInitializable {}
