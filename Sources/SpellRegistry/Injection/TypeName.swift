/// Type names as a person writes them: `any Tracker`, `Clock?`.
package enum TypeName {
  /// The name of a type without its module; costs a few microseconds, so it is for messages and drawings.
  package static func of(_ type: any Any.Type) -> String {
    if let optional = type as? any OptionalValue.Type {
      let wrapped = of(optional.wrappedType)
      return wrapped.hasPrefix("any ") ? "(\(wrapped))?" : "\(wrapped)?"
    }
    let name = String(describing: type)
    // The only sign of an existential that the standard library shows: its metatype is a `.Protocol`.
    let isExistential = String(describing: Swift.type(of: type)).hasSuffix(".Protocol")
    let isPlain = name == "Any" || name == "AnyObject" || name.hasPrefix("any ")
    return isExistential && !isPlain ? "any \(name)" : name
  }
}

/// What the registry needs to know of an Optional whose wrapped type only the runtime knows.
package protocol OptionalValue {
  static var wrappedType: any Any.Type { get }
  static var none: Self { get }
  /// What is in it, if anything is.
  var content: Any? { get }
}

extension Optional: OptionalValue {
  package static var wrappedType: any Any.Type { Wrapped.self }
  package var content: Any? { map { $0 as Any } }
}
