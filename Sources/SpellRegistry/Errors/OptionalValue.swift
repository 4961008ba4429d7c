/// A type that is an Optional, for code that knows the wrapped type only at run time.
package protocol OptionalValue {
  static var wrappedType: any Any.Type { get }
  static var none: Self { get }
  /// The wrapped value; nil if the Optional is nil.
  var content: Any? { get }
  /// Copies the value in `wrapped`, wraps the copy in an Optional, and puts the Optional in `memory`.
  static func putSome(_ wrapped: ValueMemory, in memory: ValueMemory)
}

extension OptionalValue {
  /// Puts nil in `memory`.
  ///
  /// The function is in an extension of the protocol, because in an extension of Optional, each call would look up the
  /// metadata of `Self` in the runtime.
  static func putNil(in memory: ValueMemory) { memory.put(Self.none) }
}

extension Optional: OptionalValue {
  package static var wrappedType: any Any.Type { Wrapped.self }
  package var content: Any? { map { $0 as Any } }
  package static func putSome(_ wrapped: ValueMemory, in memory: ValueMemory) {
    memory.put(Self.some(wrapped.value(as: Wrapped.self)))
  }
}
