internal import Support

/// The values that a registration keeps for arguments, each for as long as there is one.
final class KeptVariants: Sendable {
  /// `@unchecked Sendable`: the forms of `register` that keep values demand `Sendable` arguments, and the count is guarded by
  /// the lock of the variants.
  private final class Variant: @unchecked Sendable {
    let arguments: AnyHashable
    let kept: KeptValue
    /// The requests that are using it, and all that ever did.
    var userCount = 0
    var useCount = 0

    init(_ arguments: AnyHashable, _ kept: KeptValue) {
      self.arguments = arguments
      self.kept = kept
    }
  }

  private struct State: Sendable {
    /// By the arguments' hash: their own code, which may ask for anything, runs with no lock held.
    var variants: [Int: [Variant]] = [:]
    /// The number of hashes at which those without a value are looked for.
    var limit = 16

    mutating func remove(_ variant: Variant, at hash: Int) {
      let rest = variants[hash, default: []].filter { $0 !== variant }
      variants[hash] = rest.isEmpty ? nil : rest
    }
  }

  private let state = Lock(State())

  /// Runs `body` with the value's place for arguments, made when they are first asked with.
  func with(
    _ arguments: AnyHashable, make: () -> KeptValue, _ body: (KeptValue) throws(InjectionError) -> Void
  ) throws(InjectionError) {
    let hash = arguments.hashValue
    let new = Variant(arguments, make())
    var variant: Variant?
    while variant == nil {
      let known = state.withLock { $0.variants[hash, default: []] }
      let equal = known.first { $0.arguments == arguments } ?? new
      variant = state.withLock { state in
        let current = state.variants[hash, default: []]
        let isKnown = current.contains { $0 === equal }
        guard isKnown || current.elementsEqual(known, by: ===) && equal === new else { return nil }
        if !isKnown { state.variants[hash] = current + [new] }
        equal.userCount += 1
        equal.useCount += 1
        return equal
      }
    }
    guard let variant else { return }
    defer { leave(variant, hash) }
    try body(variant.kept)
  }

  /// Ends a use, and lets go of arguments whose values are gone; of all, each time that their number has doubled.
  private func leave(_ variant: Variant, _ hash: Int) {
    let (isFull, unused) = state.withLock { state in
      variant.userCount -= 1
      let isFull = state.variants.count >= state.limit
      let unused = (isFull ? Array(state.variants.keys) : [hash]).flatMap { hash in
        state.variants[hash, default: []].filter { $0.userCount == 0 }.map { (hash, $0, $0.useCount) }
      }
      return (isFull, unused)
    }
    // Looked at with no lock held, since the last reference to a weak value's object may go here.
    let vacant = unused.filter { $0.1.kept.isVacant }
    state.withLock { state in
      for (hash, variant, useCount) in vacant where variant.userCount == 0 && variant.useCount == useCount {
        state.remove(variant, at: hash)
      }
      if isFull { state.limit = max(16, state.variants.count * 2) }
    }
    withExtendedLifetime(vacant) {}
  }

  func removeAll() {
    let dropped = state.withLock { state in
      defer { state.variants = [:] }
      return state.variants
    }
    for variant in dropped.values.joined() { variant.kept.retire() }
  }
}
