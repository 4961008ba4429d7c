/// A type with an empty value to start from.
///
/// A `@Lazy` property of such a type starts with the empty value, if it has no expression and nothing is registered:
///
/// ```swift
/// @Lazy var tags: [String]        // []
/// extension Basket: DefaultInitializable {}
/// @Lazy var basket: Basket        // Basket()
/// ```
///
/// Common value types of the standard library conform, and `import Spellbook` adds some of Foundation's.
public protocol DefaultInitializable {
  /// Creates the empty value.
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
