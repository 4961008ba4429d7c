/// The registrations of one registry, which guards the table with its lock.
///
/// Most registrations are for a type or key alone, and one dictionary lookup finds them. Registrations limited to a
/// container or a name, and instances that serve supertypes, are candidates, compared with no lock held.
struct RegistrationTable: ~Copyable, Sendable {
  /// The limited registrations of one service, or all instances that serve supertypes.
  private struct Limited: Sendable {
    /// The registrations for exactly one name and any container, by name.
    var named: [String: [RegistrationRecord]] = [:]
    var others: [RegistrationRecord] = []

    var all: [RegistrationRecord] { others + named.values.joined() }
    var isEmpty: Bool { named.isEmpty && others.isEmpty }
    var hasNames: Bool { !named.isEmpty || others.contains { $0.name != nil } }

    func candidates(named name: String?) -> [RegistrationRecord] {
      others + (name.flatMap { named[$0] } ?? [])
    }

    func isInOthers(_ key: RegistrationRecord.Key) -> Bool {
      if key.container == nil, case .equal = key.name { false } else { true }
    }

    /// Replaces the registration with this key, or removes it for nil, and returns the former one.
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
  /// The instances that serve their supertypes.
  private var universal = Limited()
  /// The number of instances in `universal` that are limited to a class of containers or to names that contain a text,
  /// and so may win over a registration for exactly the type.
  private var limitedUniversals = 0
  /// The default registrations of declared keys that have been used.
  var defaults: [ObjectIdentifier: RegistrationRecord] = [:]

  /// All registrations except the defaults of keys, in the order of registration.
  var all: [RegistrationRecord] {
    (plain.values + limited.values.flatMap(\.all) + universal.all).sorted { $0.age < $1.age }
  }

  /// The defaults of keys without a registration for all properties, in the order in which they were first used.
  var defaultsInForce: [RegistrationRecord] {
    defaults.values.filter { plain[Address(id: $0.service.id)] == nil }.sorted { $0.age < $1.age }
  }

  /// At least one registration of each service, and all instances that serve supertypes.
  var representatives: [RegistrationRecord] {
    plain.values + limited.values.compactMap { $0.others.first ?? $0.named.values.first?.first } + universal.all
  }

  /// Returns all limited registrations of the record's service, or only the record if it isn't such a registration.
  func all(like record: RegistrationRecord) -> [RegistrationRecord] {
    record.servesSupertypes || record.isUnlimited ? [record] : limited[record.service.id]?.all ?? []
  }

  /// The result of one lookup.
  enum Look: ~Copyable {
    /// The kept value of the only registration was copied.
    case copied
    case only(RegistrationRecord)
    case nothing
    /// The winner depends on the request's name and container.
    case several
  }

  /// - Parameters:
  ///   - mayHaveName: Whether the request may have a name.
  ///   - memory: The memory to copy the kept value to, if the registration has one and has no hooks.
  ///   - optionals: Whether to copy values of Optional types, too.
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

  /// Returns whether any registration that may serve a service has a name.
  func asksForName(of service: ObjectIdentifier) -> Bool {
    universal.hasNames || limited[service]?.hasNames ?? false
  }

  /// Returns the registrations that may win for requests with this service and this name.
  func candidates(for service: ObjectIdentifier, named name: String?) -> [RegistrationRecord] {
    [plain[Address(id: service)]].compactMap(\.self) + (limited[service]?.candidates(named: name) ?? [])
      + universal.candidates(named: name)
  }

  /// Removes a registration if it is still in force, and returns whether it was.
  mutating func remove(_ record: RegistrationRecord) -> Bool {
    let former = exchange(record.key, for: nil)
    if let former, former !== record { _ = exchange(record.key, for: former) }
    return former === record
  }

  /// Replaces the registration with this key, or removes it for nil, and returns the former one.
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
