internal import Locking
internal import Synchronization

/// All of a registration but what makes its value, which alone depends on the value's type.
///
/// `@unchecked Sendable`: every stored property is a constant of a `Sendable` type, here and in the one subclass, and a
/// class that is not final can't be checked. What changes is behind the locks of `hooks`, `observed` and `shared`, or is
/// atomic, as `isNoOptional` and the published address are.
class RegistrationRecord: @unchecked Sendable {
  /// What the registration keeps for everybody, where its scope says so.
  let shared: SharedValue
  let hooks = Hooks()
  let key: RegistrationKey
  let place: SourcePlace
  /// What an autowired initializer takes, known before it runs.
  let dependencies: [any Any.Type]
  /// Counts up with each registration in the process: the larger, the newer.
  let age = RegistrationAge.next()
  private let observed = Lock<[any Any.Type]>([])

  init(
    key: RegistrationKey, shared: consuming SharedValue, place: SourcePlace, dependencies: [any Any.Type]
  ) {
    self.key = key
    self.place = place
    self.dependencies = dependencies
    self.shared = shared
    if case .cached(let cache) = lifetime { cache.add(self) }
  }

  deinit {
    if case .cached(let cache) = lifetime { cache.remove(ObjectIdentifier(self)) }
  }

  var lifetime: ScopeLifetime { shared.lifetime }
  /// When the scope's values are too old.
  var expiry: Duration? { shared.expiry }
  /// What the initializer has asked for besides its dependencies.
  var observedDependencies: [any Any.Type] { observed.withLock(\.self) }

  /// Whether the value's type was found to be no Optional; kept, since the runtime takes its time to say so.
  ///
  /// Relaxed: it is set for good, and who does not see it asks once more.
  private let isNoOptional = Atomic(false)
  var isKnownToBeNoOptional: Bool { isNoOptional.load(ordering: .relaxed) }

  /// - Parameter type: The type of the value, which the registration does not hold.
  func makesOptional(_ type: any Any.Type) -> Bool {
    if isKnownToBeNoOptional { return false }
    let isOptional = type is any OptionalValue.Type
    if !isOptional { isNoOptional.store(true, ordering: .relaxed) }
    return isOptional
  }

  func observeDependency(on type: any Any.Type) {
    func isSame(_ other: any Any.Type) -> Bool { other == type }
    if dependencies.contains(where: isSame) { return }
    observed.withLock { observed in
      if !observed.contains(where: isSame) { observed.append(type) }
    }
  }
}

private enum RegistrationAge {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
