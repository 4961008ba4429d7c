/// The registrations of one registry, which guards the table with its lock.
///
/// Most are for a type or key and nothing else: one look in a dictionary finds them. Those that are limited to a container, a
/// name or arguments, and instances that serve supertypes, are candidates, which are compared with no lock held.
struct RegistrationTable: ~Copyable, Sendable {
  /// The limited registrations of one service.
  private struct Limited: Sendable {
    /// For any container and exactly one name.
    var named: [String: [RegistrationRecord]] = [:]
    var others: [RegistrationRecord] = []

    var all: [RegistrationRecord] { others + named.values.joined() }
    var isEmpty: Bool { named.isEmpty && others.isEmpty }
    var hasNames: Bool { !named.isEmpty || others.contains { $0.name != nil } }

    func candidates(named name: String?) -> [RegistrationRecord] {
      others + (name.flatMap { named[$0] } ?? [])
    }

    func isInOthers(_ key: RegistrationRecord.Key) -> Bool {
      if key.container == nil, key.arguments == nil, case .equal = key.name { false } else { true }
    }

    /// Puts a registration, or nothing, in place of the one with the key, and returns that.
    mutating func exchange(_ key: RegistrationRecord.Key, for record: RegistrationRecord?) -> RegistrationRecord? {
      func exchange(in list: inout [RegistrationRecord]) -> RegistrationRecord? {
        let former = list.firstIndex { $0.key == key }.map { list.remove(at: $0) }
        if let record { list.append(record) }
        return former
      }
      guard !isInOthers(key), case .equal(let name)? = key.name else { return exchange(in: &others) }
      defer { if named[name]?.isEmpty ?? false { named[name] = nil } }
      return exchange(in: &named[name, default: []])
    }
  }

  private var plain: [Address: RegistrationRecord] = [:]
  private var limited: [ObjectIdentifier: Limited] = [:]
  /// Instances that serve their supertypes.
  private var universal = Limited()
  /// The number of those that are for a class of containers, or for names that contain something: only they may win over what
  /// is registered for exactly a type.
  private var limitedUniversals = 0
  /// Those that declared keys have by themselves.
  var defaults: [ObjectIdentifier: RegistrationRecord] = [:]

  /// All but the keys' own, in the order of registration.
  var all: [RegistrationRecord] {
    (plain.values + limited.values.flatMap(\.all) + universal.all).sorted { $0.age < $1.age }
  }

  /// Those of declared keys for which nothing is registered, in the order in which they were used.
  var defaultsInForce: [RegistrationRecord] {
    defaults.values.filter { plain[Address(id: $0.service.id)] == nil }.sorted { $0.age < $1.age }
  }

  /// One registration of each service, and all instances that serve supertypes.
  var representatives: [RegistrationRecord] {
    plain.values + limited.values.compactMap { $0.others.first ?? $0.named.values.first?.first } + universal.all
  }

  /// The registrations of the service that one is of, or only that one if it serves supertypes.
  func all(like record: RegistrationRecord) -> [RegistrationRecord] {
    record.servesSupertypes || record.isUnlimited ? [record] : limited[record.service.id]?.all ?? []
  }

  /// The answer of one look.
  enum Look: ~Copyable {
    /// The value that the only registration keeps was copied.
    case copied
    case only(RegistrationRecord)
    case nothing
    /// The winner depends on the request's name and container.
    case several
  }

  /// - Parameters:
  ///   - mayHaveName: Whether the request may have a name.
  ///   - memory: Where to copy a value that the registration keeps and has no hook for.
  ///   - optionals: Whether to copy Optionals, too.
  @inline(__always) func look(
    for service: ObjectIdentifier, mayHaveName: Bool, copyingTo memory: ValueMemory?, optionals: Bool
  ) -> Look {
    guard limited.isEmpty || limited.index(forKey: service) == nil,
      limitedUniversals == 0, !mayHaveName || universal.named.isEmpty
    else { return .several }
    guard let record = plain[Address(id: service)] else { return universal.isEmpty ? .nothing : .several }
    if let memory, optionals || !record.makesOptional, record.copyUnheard(to: memory) { return .copied }
    return .only(record)
  }

  /// Whether a registration that may serve a service has a name.
  func asksForName(of service: ObjectIdentifier) -> Bool {
    universal.hasNames || limited[service]?.hasNames ?? false
  }

  /// The registrations that may win for a request with a name.
  func candidates(for service: ObjectIdentifier, named name: String?) -> [RegistrationRecord] {
    [plain[Address(id: service)]].compactMap(\.self) + (limited[service]?.candidates(named: name) ?? [])
      + universal.candidates(named: name)
  }

  /// Removes a registration, or returns false if it isn't the one in force.
  mutating func remove(_ record: RegistrationRecord) -> Bool {
    let former = exchange(record.key, for: nil)
    if let former, former !== record { _ = exchange(record.key, for: former) }
    return former === record
  }

  /// Puts a registration, or nothing, in place of the one with the key, and returns that.
  mutating func exchange(_ key: RegistrationRecord.Key, for record: RegistrationRecord?) -> RegistrationRecord? {
    let service = key.service.id
    if key.servesSupertypes {
      let former = universal.exchange(key, for: record)
      if universal.isInOthers(key), !key.isUnlimited {
        limitedUniversals += (record == nil ? 0 : 1) - (former == nil ? 0 : 1)
      }
      return former
    }
    if key.isUnlimited {
      defer { plain[Address(id: service)] = record }
      return plain[Address(id: service)]
    }
    defer { if limited[service]?.isEmpty ?? false { limited[service] = nil } }
    return limited[service, default: Limited()].exchange(key, for: record)
  }
}
