internal import Locking
internal import Synchronization

/// What a registry knows of a type without a look into its table: read with no lock that another thread wants, written
/// under the table's.
final class RegistrationIndex: Sendable {
  /// What is registered for a type.
  enum Finding {
    /// Nothing at all that could serve it.
    case nothing
    /// One registration, which serves it in any container and by any name.
    case one(RegistrationRecord)
    /// The same, and whoever looked has taken what was wanted of it.
    case taken
    /// The table has to be asked which one wins, if any.
    case several
  }

  /// By type: `TypeTable.nothing`, `several`, or the address of the one registration.
  private let words = TypeTable()
  private static let several: UInt = 1

  /// The most special of the instances that serve any supertype.
  ///
  /// It and a type's word are two things, so it is looked at before and after the word: where it has changed in between,
  /// the table is asked. Releasing and acquiring, so that they are seen to change in the order in which they do.
  private let universal = Atomic(Universal.none.rawValue)
  private enum Universal: UInt8 {
    case none
    /// They win over nothing that is registered for the type.
    case plain
    /// One is limited to a container or a name, and so may win over what is registered for the type.
    case limited
  }

  /// How many registrations are limited to a class of containers.
  ///
  /// Relaxed: a thread that knows of a registration has synchronised with it.
  private let limits = Atomic(0)

  var hasLimits: Bool { limits.load(ordering: .relaxed) != 0 }

  /// What is registered for a type.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - thread: The current thread.
  ///   - take: Shown the one registration, if there is just one, and says whether it has taken what was wanted. Nothing
  ///     is retained then: counting would be a write to memory that all threads share.
  func find(
    _ type: any Any.Type, on thread: UnsafeMutablePointer<CreationThread>, take: (RegistrationRecord) -> Bool
  ) -> Finding {
    let before = universal.load(ordering: .acquiring)
    if before == Universal.limited.rawValue { return .several }
    return thread.pointee.reading.withLock { _ in
      let word = words.word(for: ObjectIdentifier(type))
      if universal.load(ordering: .acquiring) != before { return .several }
      if word == TypeTable.nothing { return before == Universal.none.rawValue ? .nothing : .several }
      if word == Self.several { return .several }
      let record = Self.record(at: word)
      if record._withUnsafeGuaranteedRef(take) { return .taken }
      // Retained before the lock is left: until then whoever withdraws it waits.
      return .one(record.takeUnretainedValue())
    }
  }

  /// Says what is registered for a type.
  ///
  /// - Precondition: The caller holds the table's lock, and lets no registration go that was the one before without
  ///   ``CreationThread/awaitReaders()``.
  func update(_ type: ObjectIdentifier, to finding: Finding) {
    switch finding {
    case .nothing: words.set(TypeTable.nothing, for: type)
    case .one(let record): words.set(Self.address(of: record), for: type)
    case .several, .taken: words.set(Self.several, for: type)
    }
  }

  func update(universal entries: [any AnyRegistrationEntry]) {
    let isLimited = entries.contains { $0.key.container != nil || $0.key.name != nil }
    let state: Universal = isLimited ? .limited : entries.isEmpty ? .none : .plain
    universal.store(state.rawValue, ordering: .releasing)
  }

  /// Sends everybody to the table, until the instances that serve any supertype are told anew.
  func close() { universal.store(Universal.limited.rawValue, ordering: .releasing) }

  func addLimits(_ count: Int) { limits.add(count, ordering: .relaxed) }

  private static func address(of record: RegistrationRecord) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(record).toOpaque())
  }

  private static func record(at address: UInt) -> Unmanaged<RegistrationRecord> {
    guard let address = UnsafeRawPointer(bitPattern: address) else {
      trap("A registration is at no address; please report this.")
    }
    return Unmanaged.fromOpaque(address)
  }
}
