/// A type that has an empty value, such as 0, an empty string or an empty array.
///
/// A `@Lazy` property of a conforming type starts with the empty value if the property has no expression and no
/// registration:
///
/// ```swift
/// @Lazy var tags: [String]        // []
/// extension Basket: DefaultInitializable {}
/// @Lazy var basket: Basket        // Basket()
/// ```
///
/// Common value types of the standard library conform. With `import Spellbook`, some Foundation types also conform.
public protocol DefaultInitializable {
  /// Creates the empty value.
  init()
}

/// A maker of the empty value of `Value`, for generic code in which `Value` needn't be `DefaultInitializable`.
///
/// A conformance may be isolated to an actor. A cast of a metatype ignores the isolation, but a cast of a value
/// respects it. For this reason, `EmptyValue` conforms to the private protocol `EmptyValueMaker` if `Value` is
/// `DefaultInitializable`, and `make()` casts the `EmptyValue` to that protocol.
package struct EmptyValue<Value> {
  package init() {}

  /// Returns the empty value, or nil if `Value` isn't `DefaultInitializable` or conforms only on another actor.
  package func make() -> Value? {
    guard let maker = emptyValueMaker(self) else { return nil }
    return maker.makeEmptyValue() as? Value
  }
}

private protocol EmptyValueMaker { func makeEmptyValue() -> Any }

extension EmptyValue: EmptyValueMaker where Value: DefaultInitializable {
  fileprivate func makeEmptyValue() -> Any { Value() }
}

/// Returns `value` as an `EmptyValueMaker`, or nil if its type doesn't conform in the caller's isolation.
///
/// Never inlined, because the optimizer would change an inlined cast into a cast that ignores the caller's isolation.
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
