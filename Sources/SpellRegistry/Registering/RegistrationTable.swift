/// The registrations of one registry, which guards the table with its lock.
///
/// Most registrations are for a type or key alone, and one lookup finds them. Registrations limited to a
/// container or a name, and instances that serve supertypes, are candidates, compared with no lock held.
struct RegistrationTable: ~Copyable, Sendable {
  /// A registration in the table, and the value that requests copy while they hold the table's lock.
  ///
  /// The entry owns the cell, so the value exists for as long as a request can find it.
  struct Entry: ~Copyable, Sendable {
    let record: RegistrationRecord
    /// The kept value of a registration for all requests of a service; nil if there is none, or if it may expire.
    fileprivate var cell: ValueCell?

    init(_ record: RegistrationRecord) { self.record = record }

    /// Copies the value to memory, if there is one and no hook has to be called with it; returns whether it did.
    @inline(__always) fileprivate func copyWithoutHooks(to memory: ValueMemory) -> Bool {
      !record.hooks.areUsed && cell?.copyValue(to: memory) != nil
    }
  }

  /// The limited registrations of one service, or all instances that serve supertypes.
  private struct Limited: Sendable {
    /// The registrations for exactly one name and any container, by name.
    var named: [String: [RegistrationRecord]] = [:]
    var others: [RegistrationRecord] = []

    var all: [RegistrationRecord] { others + named.values.joined() }
    var isEmpty: Bool { named.isEmpty && others.isEmpty }
    var hasNames: Bool { !named.isEmpty || others.contains { $0.name != nil } }

    func candidates(named name: String?) -> Candidates.Lists { (others, name.flatMap { named[$0] }) }

    func isInOthers(_ record: RegistrationRecord) -> Bool {
      if record.container == nil, case .equal = record.name { false } else { true }
    }

    func contains(_ record: RegistrationRecord) -> Bool {
      let list = isInOthers(record) ? others : record.name.flatMap { named[$0.text] }
      return list?.contains { $0 === record } ?? false
    }

    /// Replaces the registration with the same key as `record`, or removes it if `new` is nil; returns the former one.
    mutating func exchange(_ record: RegistrationRecord, for new: RegistrationRecord?) -> RegistrationRecord? {
      let key = record.key
      func exchange(in list: inout [RegistrationRecord]) -> RegistrationRecord? {
        let former = list.firstIndex { $0.key == key }.map { list.remove(at: $0) }
        if let new { list.append(new) }
        return former
      }
      guard !isInOthers(record), case .equal(let name)? = key.name else { return exchange(in: &others) }
      defer { if named[name]?.isEmpty ?? false { named[name] = nil } }
      return exchange(in: &named[name, default: []])
    }
  }

  /// The registrations for all requests of a service.
  private var plain = AddressTable<Entry>()
  private var limited = AddressTable<Limited>()
  /// The instances that serve their supertypes.
  private var universal = Limited()
  /// The number of instances in `universal` that may win over a registration for exactly the type.
  ///
  /// Such an instance is limited to a class of containers, or to names that contain a text.
  private var limitedUniversals = 0
  /// The default registrations of declared keys that have been used.
  private var defaults = AddressTable<Entry>()

  /// All registrations except the defaults of keys, in the order of registration.
  var all: [RegistrationRecord] { records(ofLimited: \.all).sortedByAge }

  /// The defaults of all keys that have been used.
  var allDefaults: [RegistrationRecord] {
    var records: [RegistrationRecord] = []
    defaults.forEach { records.append($0.record) }
    return records
  }

  /// The defaults of keys without a registration for all properties, in the order in which they were first used.
  var defaultsInForce: [RegistrationRecord] {
    allDefaults.filter { record in plain.withValue(of: record.service.id) { _ in } == nil }.sortedByAge
  }

  /// At least one registration of each service, and all instances that serve supertypes.
  var representatives: [RegistrationRecord] {
    records { limited in (limited.others.first ?? limited.named.values.first?.first).map { [$0] } ?? [] }
  }

  private func records(ofLimited chosen: (Limited) -> [RegistrationRecord]) -> [RegistrationRecord] {
    var records = universal.all
    plain.forEach { records.append($0.record) }
    limited.forEach { records += chosen(copy $0) }
    return records
  }

  /// Returns all limited registrations of the record's service, or only the record if it isn't limited.
  func all(like record: RegistrationRecord) -> [RegistrationRecord] {
    if record.servesSupertypes || record.isUnlimited { return [record] }
    return limited.withValue(of: record.service.id) { $0.all } ?? []
  }

  /// The result of one lookup.
  enum Lookup {
    /// The kept value of the only registration was copied.
    case copied
    /// There is one registration.
    case only
    case nothing
    /// The winner depends on the request's name and container.
    case several
  }

  /// - Parameters:
  ///   - mayHaveName: Whether the request may have a name.
  ///   - memory: The memory to copy the kept value to, if the registration has one and has no hooks.
  ///   - optionals: Whether to copy values of Optional types, too.
  ///   - mayBeDefault: Whether a key's default registration, if this table has it, serves the request.
  ///   - only: Receives the only registration, which would be retained a second time as part of the result.
  @inline(__always) func lookUp(
    for service: ObjectIdentifier, mayHaveName: Bool, copyingTo memory: ValueMemory?, optionals: Bool,
    mayBeDefault: Bool, only: inout RegistrationRecord?
  ) -> Lookup {
    guard limited.withValue(of: service, { _ in }) == nil,
      limitedUniversals == 0, !mayHaveName || universal.named.isEmpty
    else { return .several }
    func answer(_ entry: borrowing Entry) -> Lookup {
      if let memory, optionals || !entry.record.makesOptional, entry.copyWithoutHooks(to: memory) { return .copied }
      only = entry.record
      return .only
    }
    if let found = plain.withValue(of: service, answer) { return found }
    if mayBeDefault, let found = defaults.withValue(of: service, answer) { return found }
    return universal.isEmpty ? .nothing : .several
  }

  func defaultRegistration(of key: InjectionKeys) -> RegistrationRecord? {
    defaults.withValue(of: ObjectIdentifier(key)) { $0.record }
  }

  /// Adds the default registration of a key, unless there is one; returns the one in the table.
  mutating func addDefault(_ record: RegistrationRecord) -> RegistrationRecord {
    let id = record.service.id
    if let known = defaults.withValue(of: id, { $0.record }) { return known }
    _ = defaults.put(Entry(record), for: id)
    return record
  }

  /// Lets requests copy a kept value or, if `cell` is nil, no longer lets them; does nothing if the registration isn't
  /// in the table.
  ///
  /// - Returns: The former cell, which the caller releases with no lock held.
  mutating func publish(_ cell: ValueCell?, of kept: KeptValue) -> ValueCell? {
    func exchange(in entries: inout AddressTable<Entry>) -> ValueCell? {
      guard var entry = entries.take(kept.service.id) else { return nil }
      var former: ValueCell?
      if entry.record.kept === kept { (former, entry.cell) = (entry.cell, cell) }
      _ = entries.put(entry, for: kept.service.id)
      return former
    }
    return exchange(in: &plain) ?? exchange(in: &defaults)
  }

  /// Returns whether any registration that may serve a service has a name.
  func asksForName(of service: ObjectIdentifier) -> Bool {
    universal.hasNames || limited.withValue(of: service) { $0.hasNames } ?? false
  }

  /// Returns the registrations that may win for requests with this service and this name, in several lists.
  func candidates(for service: ObjectIdentifier, named name: String?) -> Candidates {
    Candidates(
      plain: plain.withValue(of: service) { $0.record },
      limited: limited.withValue(of: service) { $0.candidates(named: name) },
      universal: universal.isEmpty ? nil : universal.candidates(named: name))
  }

  /// The registrations that may win for a request.
  ///
  /// They are in the table's own lists, so finding them copies no list.
  struct Candidates: Sendable {
    typealias Lists = (others: [RegistrationRecord], named: [RegistrationRecord]?)
    fileprivate let plain: RegistrationRecord?
    fileprivate let limited: Lists?
    fileprivate let universal: Lists?

    /// Calls `body` with each of the registrations.
    @inline(__always) func forEach(_ body: (RegistrationRecord) -> Void) {
      if let plain { body(plain) }
      limited?.others.forEach(body)
      limited?.named?.forEach(body)
      universal?.others.forEach(body)
      universal?.named?.forEach(body)
    }
  }

  /// Removes a registration; returns its entry, or nil if the table doesn't have the registration.
  mutating func remove(_ record: RegistrationRecord) -> Entry? {
    isInForce(record) ? exchange(record, for: nil) : nil
  }

  private func isInForce(_ record: RegistrationRecord) -> Bool {
    let service = record.service.id
    if record.servesSupertypes { return universal.contains(record) }
    if record.isUnlimited { return plain.withValue(of: service) { $0.record === record } ?? false }
    return limited.withValue(of: service) { $0.contains(record) } ?? false
  }

  /// Adds a registration in place of the one with the same key.
  ///
  /// - Returns: The former entry, which the caller releases with no lock held.
  mutating func insert(_ record: RegistrationRecord) -> Entry? { exchange(record, for: record) }

  /// Replaces the registration with the same key as `record`, or removes it if `new` is nil.
  private mutating func exchange(_ record: RegistrationRecord, for new: RegistrationRecord?) -> Entry? {
    let service = record.service.id
    if record.servesSupertypes {
      let former = universal.exchange(record, for: new)
      if universal.isInOthers(record), !record.isUnlimited {
        limitedUniversals += (new == nil ? 0 : 1) - (former == nil ? 0 : 1)
      }
      return former.map { Entry($0) }
    }
    if record.isUnlimited { return new.map { plain.put(Entry($0), for: service) } ?? plain.take(service) }
    var list = limited.take(service) ?? Limited()
    let former = list.exchange(record, for: new)
    if !list.isEmpty { _ = limited.put(list, for: service) }
    return former.map { Entry($0) }
  }
}

extension [RegistrationRecord] {
  /// The registrations in order; never inlined, because each sort is compiled into 3 KB.
  var sortedByAge: [RegistrationRecord] { @inline(never) get { sorted { $0.age < $1.age } } }
}
