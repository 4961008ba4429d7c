internal import Support

/// The values that a registration keeps for each set of arguments, as a registration for each.
final class ArgumentVariants<Value>: Sendable {
  /// Arguments, as a key of the table.
  ///
  /// `@unchecked Sendable`: the forms of `register` that keep values demand `Sendable` arguments.
  private struct Key: Hashable, @unchecked Sendable { let arguments: AnyHashable }

  private let identity: @Sendable (Any) -> AnyHashable
  private let variants = Lock<[Key: TypedRegistration<Value>]>([:])

  init(identity: @escaping @Sendable (Any) -> AnyHashable) { self.identity = identity }

  /// The registration for one set of arguments, made when they are first asked with.
  func variant(for arguments: Any, _ make: () -> TypedRegistration<Value>) -> TypedRegistration<Value> {
    let key = Key(arguments: identity(arguments))
    if let variant = variants.withLock({ $0[key] }) { return variant }
    let made = make()
    return variants.withLock { variants in
      if let variant = variants[key] { return variant }
      variants[key] = made
      return made
    }
  }

  /// Lets go of what is kept, with no lock held.
  func retire() {
    let dropped = variants.withLock { variants in
      defer { variants = [:] }
      return variants
    }
    for variant in dropped.values { variant.retire() }
  }
}
