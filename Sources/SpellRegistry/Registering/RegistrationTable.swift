/// The registrations of one registry, which guards the table with its lock.
///
/// Most registrations are for all requests of a type or key, and one lookup finds them. The other registrations are
/// limited to a container or a name, or are instances that are also registered for their supertypes. The table returns
/// the other registrations as candidates, which the registry compares with no lock held.
struct RegistrationTable: ~Copyable, Sendable {
  /// A registration that is for all requests of its service.
  ///
  /// A table of entries can be searched without retaining a registration.
  private struct Entry: ~Copyable, Sendable {
    let record: RegistrationRecord
    /// The registration's ``RegistrationRecord/kept``.
    let kept: KeptValue?

    init(_ record: RegistrationRecord) { (self.record, kept) = (record, record.kept) }

    /// Copies the kept value to memory if there is a value and the registration has no hooks.
    ///
    /// - Returns: Whether a value was copied.
    @inline(__always) func copyWithoutHooks(to memory: ValueMemory) -> Bool {
      // The entry's record keeps the object alive.
      guard let kept = kept.map({ Borrowed($0) }), !record.hooks.areUsed else { return false }
      return kept.withObject { $0.copyInTable(to: memory) }
    }
  }

  /// A group of registrations that the registry has to compare for each request.
  ///
  /// The table has a group for each service, with the registrations that are limited to a container or a name. It has
  /// another group with the instances that are also registered for their supertypes.
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

    /// Returns the registration whose `Key` is equal to that of `record`; nil if there is none.
    func registration(like record: RegistrationRecord) -> RegistrationRecord? {
      let (list, key) = (isInOthers(record) ? others : record.name.flatMap { named[$0.text] }, record.key)
      return list?.first { $0.key == key }
    }

    /// Removes the registration whose `Key` is equal to that of `record`, if any, and adds `new` unless it is nil.
    ///
    /// - Returns: The removed registration; nil if there was none.
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

  /// The registrations that are for all requests of their service, whatever the request's name and container.
  private var plain = AddressTable<Entry>()
  private var limited = AddressTable<Limited>()
  /// The instances that are registered with `as: .anySupertype`.
  private var universal = Limited()
  /// The number of instances in `universal` that are limited to a class of containers, or to names that contain a text.
  ///
  /// An instance with such a limit may take precedence over a registration for exactly the requested type.
  private var limitedUniversals = 0
  /// The default registrations of declared keys that have been used.
  private var defaults = AddressTable<Entry>()
  /// The registrations that others hide, by service.
  ///
  /// A hidden registration has the same `Key` as its hider. Together they are a stack in the order of their ages, whose
  /// top, the newest, is in `plain`, `limited` or `universal`.
  private var hidden = AddressTable<[RegistrationRecord]>()

  /// All registrations except hidden ones and the defaults of keys, in the order of registration.
  var all: [RegistrationRecord] { records(ofLimited: \.all).sortedByAge }

  /// All registrations, hidden ones and the defaults of keys included.
  var everything: [RegistrationRecord] { allDefaults + allHidden + all }

  /// Whether any registration keeps a value, or has kept one.
  var hasKeptValues = false

  /// The registrations that others hide, in the order of registration.
  var allHidden: [RegistrationRecord] {
    var records: [RegistrationRecord] = []
    hidden.forEach { records += copy $0 }
    return records.sortedByAge
  }

  /// The default registrations of all declared keys that have been used, in no particular order.
  var allDefaults: [RegistrationRecord] {
    var records: [RegistrationRecord] = []
    defaults.forEach { records.append($0.record) }
    return records
  }

  /// The default registrations of used keys, in the order of the first use of each key.
  ///
  /// A key's default is left out if another registration is for all requests of the key, whatever their name and
  /// container.
  var defaultsInForce: [RegistrationRecord] {
    allDefaults.filter { record in plain.withValue(of: record.service.id) { _ in } == nil }.sortedByAge
  }

  /// The registrations without a limit, all instances that serve supertypes, and one limited registration per service.
  ///
  /// A limited registration is for a class of containers or for certain names. The defaults of declared keys are left
  /// out.
  var representatives: [RegistrationRecord] {
    records { limited in (limited.others.first ?? limited.named.values.first?.first).map { [$0] } ?? [] }
  }

  private func records(ofLimited chosen: (Limited) -> [RegistrationRecord]) -> [RegistrationRecord] {
    var records = universal.all
    plain.forEach { records.append($0.record) }
    limited.forEach { records += chosen(copy $0) }
    return records
  }

  /// Returns the registrations of the record's service that are limited to a container or a name.
  ///
  /// If the record has no such limit, or serves supertypes, the result is the record alone.
  func all(like record: RegistrationRecord) -> [RegistrationRecord] {
    if record.servesSupertypes || record.isUnlimited { return [record] }
    return limited.withValue(of: record.service.id) { $0.all } ?? []
  }

  /// The instances in force that are registered for their supertypes and for exactly one name.
  func instances(named name: String) -> [RegistrationRecord] { universal.named[name] ?? [] }

  /// The result of one lookup.
  enum Lookup {
    /// Only one registration can be chosen for the request, and its kept value was copied to the caller's memory.
    case delivered
    /// Only one registration can be chosen for the request, and no value was copied.
    case only
    case nothing
    /// The registry has to compare the candidates, because a limited registration or an instance may serve the request.
    case several
  }

  /// Looks up the registration for a request, and copies its kept value, if only one registration can be chosen.
  ///
  /// - Parameters:
  ///   - mayHaveName: Whether the request may have a name.
  ///   - memory: The memory to which to copy a kept value, unless the registration has hooks; nil to copy nothing.
  ///   - optionals: Whether to copy the value of a registration for an Optional type.
  ///   - mayBeDefault: Whether to look for a key's default registration if the key has no other registration.
  ///   - only: Receives the only registration that can be chosen, unless its value was copied. The registration isn't
  ///     part of the result, because a registration in a `Lookup` would be retained a second time.
  @inline(__always) func lookUp(
    for service: ObjectIdentifier, mayHaveName: Bool, deliveringTo memory: ValueMemory?, optionals: Bool,
    mayBeDefault: Bool, only: inout RegistrationRecord?
  ) -> Lookup {
    guard limited.withValue(of: service, { _ in }) == nil,
      limitedUniversals == 0, !mayHaveName || universal.named.isEmpty
    else { return .several }
    func answer(_ entry: borrowing Entry) -> Lookup {
      if let memory, optionals || !entry.record.makesOptional, entry.copyWithoutHooks(to: memory) { return .delivered }
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

  /// Adds the default registration of a key, unless the table already has one.
  ///
  /// - Returns: The default registration that the table has afterward.
  mutating func addDefault(_ record: RegistrationRecord) -> RegistrationRecord {
    let id = record.service.id
    if let known = defaults.withValue(of: id, { $0.record }) { return known }
    _ = defaults.insert(Entry(record), for: id)
    return record
  }

  /// Returns whether any registration that may be chosen for a request of a service is limited to certain names.
  func asksForName(of service: ObjectIdentifier) -> Bool {
    universal.hasNames || limited.withValue(of: service) { $0.hasNames } ?? false
  }

  /// Returns the registrations that may be chosen for a request with this service and this name, in several lists.
  ///
  /// - Parameter hider: A registration to leave out, together with those that hide it; nil to leave out none. In their
  ///   place, the result has the registrations that `hider` hides.
  func candidates(
    for service: ObjectIdentifier, named name: String?, hiddenBy hider: RegistrationRecord? = nil
  ) -> Candidates {
    Candidates(
      plain: plain.withValue(of: service) { $0.record },
      limited: limited.withValue(of: service) { $0.candidates(named: name) },
      universal: universal.isEmpty ? nil : universal.candidates(named: name),
      hider: hider,
      hidden: hider.flatMap { hider in
        hidden.withValue(of: hider.service.id) { $0.filter { $0.age < hider.age && $0.key == hider.key } }
      } ?? [])
  }

  /// The registrations that may be chosen for a request.
  ///
  /// The lists share their storage with the table, so finding the candidates copies no list.
  struct Candidates: Sendable {
    typealias Lists = (others: [RegistrationRecord], named: [RegistrationRecord]?)
    fileprivate let plain: RegistrationRecord?
    fileprivate let limited: Lists?
    fileprivate let universal: Lists?
    /// A registration to leave out, together with those that hide it.
    fileprivate let hider: RegistrationRecord?
    /// The registrations that `hider` hides.
    fileprivate let hidden: [RegistrationRecord]

    /// Calls `body` with each of the registrations.
    @inline(__always) func forEach(_ body: (RegistrationRecord) -> Void) {
      // One loop over all lists, because each inlined copy of `body` would have a kilobyte of code.
      for number in 0..<6 {
        for record in list(number) {
          // Registrations that hide each other have equal keys, and the older one is hidden.
          if let hider, record.age >= hider.age, record.key == hider.key { continue }
          body(record)
        }
      }
    }

    private func list(_ number: Int) -> [RegistrationRecord] {
      switch number {
      case 0: plain.map { [$0] } ?? []
      case 1: limited?.others ?? []
      case 2: limited?.named ?? []
      case 3: universal?.others ?? []
      case 4: universal?.named ?? []
      default: hidden
      }
    }
  }

  // MARK: Changes

  /// Adds a registration, which replaces any registration with an equal `Key` that isn't hidden.
  ///
  /// - Returns: The replaced registration; nil if there was none.
  mutating func insert(_ record: RegistrationRecord) -> RegistrationRecord? { exchange(record, for: record) }

  /// Adds a registration, which hides any older registration with an equal `Key`.
  ///
  /// If another thread has added a newer one meanwhile, that one hides `record`.
  mutating func hide(behind record: RegistrationRecord) {
    guard let former = insert(record) else { return }
    let service = record.service.id
    let older = former.age < record.age ? former : record
    if older === record { _ = exchange(record, for: former) }
    _ = hidden.insert((hidden.take(service) ?? []) + [older], for: service)
  }

  /// Removes a registration.
  ///
  /// If it hides others, the newest of them serves again.
  ///
  /// - Returns: Whether the table had the registration.
  mutating func remove(_ record: RegistrationRecord) -> Bool {
    if isInForce(record) {
      _ = exchange(record, for: unhide { $0.key == record.key })
      return true
    }
    return unhide { $0 === record } != nil

    func unhide(_ isWanted: (RegistrationRecord) -> Bool) -> RegistrationRecord? {
      guard var list = hidden.take(record.service.id) else { return nil }
      let newest = list.indices.filter { isWanted(list[$0]) }.max { list[$0].age < list[$1].age }
      let found = newest.map { list.remove(at: $0) }
      if !list.isEmpty { _ = hidden.insert(list, for: record.service.id) }
      return found
    }
  }

  /// Returns whether the table has a registration, hidden or not.
  func contains(_ record: RegistrationRecord) -> Bool {
    isInForce(record) || hidden.withValue(of: record.service.id) { $0.contains { $0 === record } } ?? false
  }

  private func isInForce(_ record: RegistrationRecord) -> Bool { registration(like: record) === record }

  /// Returns the registration, not hidden, whose `Key` is equal to that of `record`; nil if there is none.
  ///
  /// If `record` is the default of a declared key, a registration for all of the key's requests also counts.
  func registration(like record: RegistrationRecord) -> RegistrationRecord? {
    let service = record.service.id
    if record.servesSupertypes { return universal.registration(like: record) }
    if !record.isUnlimited { return limited.withValue(of: service) { $0.registration(like: record) } ?? nil }
    if record.isDefault, let known = defaults.withValue(of: service, { $0.record }) { return known }
    return plain.withValue(of: service) { $0.record }
  }

  /// Removes the registration whose `Key` is equal to that of `record`, if any, and adds `new` unless it is nil.
  ///
  /// - Returns: The removed registration; nil if there was none.
  private mutating func exchange(_ record: RegistrationRecord, for new: RegistrationRecord?) -> RegistrationRecord? {
    let service = record.service.id
    if record.servesSupertypes {
      let former = universal.exchange(record, for: new)
      if universal.isInOthers(record), !record.isUnlimited {
        limitedUniversals += (new == nil ? 0 : 1) - (former == nil ? 0 : 1)
      }
      return former
    }
    func exchange(in entries: inout AddressTable<Entry>) -> RegistrationRecord? {
      switch new.map({ entries.insert(Entry($0), for: service) }) ?? entries.take(service) {
      case let former?: former.record
      case nil: nil
      }
    }
    if record.isDefault { return exchange(in: &defaults) }
    if record.isUnlimited { return exchange(in: &plain) }
    var list = limited.take(service) ?? Limited()
    let former = list.exchange(record, for: new)
    if !list.isEmpty { _ = limited.insert(list, for: service) }
    return former
  }
}

extension [RegistrationRecord] {
  /// The registrations in the order of registration.
  ///
  /// Never inlined, because each inlined copy of the sort would have 3 KB of code.
  var sortedByAge: [RegistrationRecord] { @inline(never) get { sorted { $0.age < $1.age } } }
}
