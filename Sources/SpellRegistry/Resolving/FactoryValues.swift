internal import Support

/// The values that a factory keeps for different arguments.
///
/// Arguments that no longer have a value are removed from time to time.
final class FactoryValues: Sendable {
  /// The value for one list of arguments.
  ///
  /// `@unchecked Sendable`: the lock `state` of `FactoryValues` guards the counts, and a factory that keeps values
  /// requires `Sendable` arguments.
  private final class Variant: @unchecked Sendable {
    let arguments: AnyHashable
    let kept: KeptValue
    /// The number of requests that are using the variant.
    var userCount = 0
    /// The number of requests that are using the variant or have used it.
    var useCount = 0

    init(_ arguments: AnyHashable, _ kept: KeptValue) {
      (self.arguments, self.kept) = (arguments, kept)
    }
  }

  private struct State: Sendable {
    /// The variants, by the hash value of their arguments.
    ///
    /// The arguments' `hash` and `==` may resolve values, so they run with no lock held.
    var variants: [Int: [Variant]] = [:]
    /// The number of uses that are left until `leave` searches the whole table for variants that have no value.
    var usesBeforeSearch = 16

    mutating func remove(_ variant: Variant, at hash: Int) {
      let rest = variants[hash, default: []].filter { $0 !== variant }
      variants[hash] = rest.isEmpty ? nil : rest
    }
  }

  private let state = Lock(State())

  /// The kept values for all arguments.
  ///
  /// - Precondition: The caller holds no lock, because this may release the arguments of a value that has been removed.
  var all: [KeptValue] { state.withLock(\.variants).values.flatMap { $0.map(\.kept) } }

  /// Runs `body` with the kept value for the arguments, which is empty if there was none yet.
  ///
  /// - Parameters:
  ///   - arguments: The arguments that the value is for.
  ///   - type: The type of the value.
  ///   - record: The registration of the factory.
  ///   - registry: The registry whose table guards the kept values.
  ///   - body: Uses the kept value, with no lock held.
  func with(
    _ arguments: AnyHashable, _ type: any Any.Type, of record: RegistrationRecord, in registry: InitializerRegistry,
    _ body: (KeptValue) throws(InjectionError) -> Void
  ) throws(InjectionError) {
    let hash = arguments.hashValue
    var variant: Variant?
    while variant == nil {
      let known = state.withLock { $0.variants[hash, default: []] }
      let equal = known.first { $0.arguments == arguments }
      let used =
        equal
        ?? Variant(arguments, KeptValue(Service(type), record.lifetime, expiry: record.expiry, by: registry.clock))
      variant = state.withLock { state in
        let current = state.variants[hash, default: []]
        // Another thread may have removed the variant meanwhile, or added one for equal arguments.
        guard equal.map({ equal in current.contains { $0 === equal } }) ?? current.elementsEqual(known, by: ===) else {
          return nil
        }
        if equal == nil { state.variants[hash] = current + [used] }
        used.userCount += 1
        used.useCount += 1
        return used
      }
    }
    guard let variant else { return }
    defer { leave(variant, hash, in: registry) }
    try body(variant.kept)
  }

  /// Ends a use of a variant, and removes the unused variants with the given hash that have no value.
  ///
  /// From time to time, the function removes such variants for all hash values. The number of uses until the next
  /// removal of this kind is the number of hash values that the table had before this removal, but at least 16.
  private func leave(_ variant: Variant, _ hash: Int, in registry: InitializerRegistry) {
    let isDue = state.withLock { state in
      variant.userCount -= 1
      state.usesBeforeSearch -= 1
      if state.usesBeforeSearch > 0 { return false }
      state.usesBeforeSearch = max(16, state.variants.count)
      return true
    }
    removeVacant(hash: isDue ? nil : hash, in: registry)
  }

  /// Removes the unused variants that have no value, and releases their arguments.
  ///
  /// - Parameter hash: The hash value of the arguments; nil for all arguments.
  func removeVacant(hash: Int? = nil, in registry: InitializerRegistry) {
    let unused = state.withLock { state in
      (hash.map { [$0] } ?? Array(state.variants.keys)).flatMap { hash in
        state.variants[hash, default: []].filter { $0.userCount == 0 }.map { (hash, $0, $0.useCount) }
      }
    }
    // The check runs with no lock held, because it may release the last reference to a weak value's object.
    let vacant = unused.filter { !$0.1.kept.isReady(in: registry) }
    state.withLock { state in
      for (hash, variant, useCount) in vacant where variant.userCount == 0 && variant.useCount == useCount {
        state.remove(variant, at: hash)
      }
    }
    withExtendedLifetime(vacant) {}
  }
}
