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

/// A maker of the empty value of a type, if the type has one where the caller runs.
///
/// A conformance may be isolated to an actor. A cast of a metatype ignores the isolation, but a cast of a value
/// respects it. So this struct conforms to a protocol if `Value` is `DefaultInitializable`, and the code casts the
/// struct.
package struct EmptyValue<Value> {
  package init() {}

  /// Returns the empty value; nil if the type has none, or has one only on an actor other than the caller's.
  package func make() -> Value? {
    guard let maker = emptyValueMaker(self) else { return nil }
    return maker.makeEmptyValue() as? Value
  }
}

private protocol EmptyValueMaker { func makeEmptyValue() -> Any }

extension EmptyValue: EmptyValueMaker where Value: DefaultInitializable {
  fileprivate func makeEmptyValue() -> Any { Value() }
}

/// Never inlined, because the optimizer would evaluate the cast without regard to the caller's isolation.
@inline(never) private func emptyValueMaker(_ value: Any) -> (any EmptyValueMaker)? { value as? any EmptyValueMaker }

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
