internal import Synchronization

/// The name that a request has, as far as it is known.
@usableFromInline enum RequestedName {
  case none
  case known(String)
  /// The property's own, which only reflection can tell; it is looked for if a registration could depend on it.
  case ofProperty

  /// The name, if it is known.
  var text: String? { if case .known(let name) = self { name } else { nil } }
}

/// What a look into a table has found for a type.
enum Finding {
  /// Nothing that could serve it.
  case nothing
  /// The registration that wins; the table holds it until the reader leaves.
  case winner(Borrowed<RegistrationStorage>)
  /// More than one may win, and it takes the property's name or the container's class to tell which.
  case several
}

/// The registrations of one registry, by type or declared key and then by name.
///
/// `@unchecked Sendable`: everything that changes is guarded by the readers' lock: `find`, `candidates` and the other
/// reads are called in `ThreadState.read`, and what changes the table in `ThreadState.write`. So a change is seen whole or
/// not at all, and what it takes out of the table is released by the caller afterwards.
///
/// An open hash table: a type's own address is spread over the slots (Fibonacci hashing, Knuth), and a type that finds
/// its slot taken goes to the next one. A dictionary would hash by SipHash and count references at each look, which
/// costs a singleton a quarter of its speed (benchmark: "resolve singleton").
final class RegistrationTable: @unchecked Sendable {
  // Unchecked, as the readers' lock guards them; the check at run time would cost more than the look.
  @safe @exclusivity(unchecked) private var slots = Slots(8)
  /// How many slots are taken.
  @safe @exclusivity(unchecked) private var takenCount = 0
  /// Instances that serve any supertype.
  @safe @exclusivity(unchecked) private var universal = RegistrationGroup()
  /// How many registrations are for one class of containers.
  ///
  /// Relaxed: a thread that knows of a registration has synchronized with it.
  private let constrainedCount = Atomic(0)
  var hasClassConstraints: Bool { constrainedCount.load(ordering: .relaxed) != 0 }

  deinit { slots.deallocate() }

  // MARK: Reading, in `ThreadState.read`

  /// What wins for a service.
  func find(_ service: Service, named name: RequestedName, inContainer: Bool) -> Finding {
    slots.use(service.identifier) { group in
      // An instance of any supertype serves types, never declared keys.
      if service.key != nil || universal.isEmpty { return group.find(name, inContainer: inContainer) }
      if let sole = group.sole, !universal.isLimited { return .winner(sole) }
      if universal.mayWin(for: name, inContainer: inContainer) { return .several }
      if case .winner(let winner) = group.find(name, inContainer: inContainer) { return .winner(winner) }
      return .several
    }
  }

  /// The registrations that may win for a service: those that make exactly it and, if wanted, instances of any supertype.
  func candidates(for service: Service, named name: String?, withInstances: Bool) -> [RegistrationStorage] {
    slots.use(service.identifier) { $0.candidates(named: name) }
      + (withInstances ? universal.candidates(named: name) : [])
  }

  /// The registrations that make exactly a type, whatever container and name they are for, and the universal instances.
  func all(for type: any Any.Type) -> [RegistrationStorage] {
    slots.use(ObjectIdentifier(type)) { $0.all.filter { $0.key.arguments == nil } } + universal.all
  }

  /// The most specific registration of a type that takes arguments of a type.
  func taking(_ arguments: ObjectIdentifier, for type: ObjectIdentifier, named name: String?) -> RegistrationStorage? {
    slots.use(type) { $0.taking(arguments, named: name) }
  }

  /// The registration with a key.
  subscript(key: RegistrationKey) -> RegistrationStorage? {
    key.servesSupertypes ? universal[key] : slots.use(key.service.identifier) { $0[key] }
  }

  /// Every registration, in the order of registration.
  var all: [RegistrationStorage] { (slots.all + universal.all).sorted { $0.age < $1.age } }

  // MARK: Changing, in `ThreadState.write`

  /// Puts a registration in place of the one with its key, which it returns.
  func insert(_ registration: RegistrationStorage) -> RegistrationStorage? {
    let replaced = change(registration.key) { $0.insert(registration) }
    if registration.key.container != nil && replaced == nil { constrainedCount.add(1, ordering: .relaxed) }
    return replaced
  }

  /// Takes a registration out, or puts back the one that it stands in for; returns false if it isn't there.
  func remove(_ registration: RegistrationStorage) -> Bool {
    guard let current = self[registration.key] else { return false }
    if current === registration {
      if let former = registration.former.take() {
        _ = change(registration.key) { $0.insert(former) }
      } else {
        change(registration.key) { $0.remove(registration) }
        if registration.key.container != nil { constrainedCount.subtract(1, ordering: .relaxed) }
      }
      return true
    }
    // It may stand further back, behind others that stand in for it.
    let newer = sequence(first: current, next: \.former).first { $0.former === registration }
    newer?.former = registration.former.take()
    return newer != nil
  }

  /// Takes all registrations out and returns them.
  func removeAll() -> [RegistrationStorage] {
    let removed = all
    slots.removeAll()
    universal.removeAll()
    constrainedCount.store(0, ordering: .relaxed)
    return removed
  }

  private func change<Result>(_ key: RegistrationKey, _ body: (inout RegistrationGroup) -> Result) -> Result {
    if key.servesSupertypes { return body(&universal) }
    let service = key.service.identifier
    if slots.take(service) {
      takenCount += 1
      // Half of the slots stay free, so that looks are short.
      if takenCount * 2 >= slots.count { slots.double() }
    }
    return slots.change(service, body)
  }
}

/// The groups of a table by type or declared key, without what an array checks and counts at each look.
@safe private struct Slots {
  private struct Slot: ~Copyable {
    /// Nil for a free slot, whose group is empty.
    var service: ObjectIdentifier?
    var group = RegistrationGroup()
  }
  private var slots: UnsafeMutablePointer<Slot>
  /// A power of two.
  private(set) var count: Int

  init(_ count: Int) {
    self.count = count
    unsafe slots = .allocate(capacity: count)
    for index in 0..<count { unsafe (slots + index).initialize(to: Slot()) }
  }

  func deallocate() {
    for index in 0..<count where unsafe slots[index].service != nil { unsafe (slots + index).deinitialize(count: 1) }
    unsafe slots.deallocate()
  }

  /// Runs `body` with the group of a service, or an empty one.
  @inline(__always) func use<Result>(
    _ service: ObjectIdentifier, _ body: (borrowing RegistrationGroup) -> Result
  ) -> Result {
    unsafe body(slots[index(of: service)].group)
  }

  /// Every registration, in any order.
  var all: [RegistrationStorage] { (0..<count).flatMap { unsafe slots[$0].group.all } }

  func removeAll() { for index in 0..<count { unsafe slots[index].group.removeAll() } }

  /// Gives a service a slot of its own; returns false if it has one.
  func take(_ service: ObjectIdentifier) -> Bool {
    let index = index(of: service)
    if unsafe slots[index].service != nil { return false }
    unsafe slots[index].service = service
    return true
  }

  func change<Result>(_ service: ObjectIdentifier, _ body: (inout RegistrationGroup) -> Result) -> Result {
    unsafe body(&slots[index(of: service)].group)
  }

  /// Moves the groups to twice as many slots.
  mutating func double() {
    let larger = Slots(count * 2)
    for index in 0..<count {
      let slot = unsafe (slots + index).move()
      if let service = slot.service { unsafe larger.slots[larger.index(of: service)] = slot }
    }
    unsafe slots.deallocate()
    self = larger
  }

  /// Where the slot of a service is, or the free one that it would get.
  @inline(__always) private func index(of service: ObjectIdentifier) -> Int {
    let mask = count - 1
    let hash = UInt64(UInt(bitPattern: service)) &* 0x9E37_79B9_7F4A_7C15
    var index = Int(truncatingIfNeeded: hash >> 32) & mask
    while let other = unsafe slots[index].service, other != service { index = (index + 1) & mask }
    return index
  }
}

/// The registrations of one type, or the instances that serve any type; guarded as its table is.
private struct RegistrationGroup: ~Copyable {
  /// One for any container and any name: nearly always the only registration of a type.
  private var plain: RegistrationStorage?
  /// The others, if there are any.
  private var others: OtherRegistrations?

  /// The plain one, if it wins every request.
  var sole: Borrowed<RegistrationStorage>? { isLimited ? nil : plain.map { Borrowed($0) } }
  var isEmpty: Bool { plain == nil && others?.isEmpty ?? true }
  /// Whether one is for a name or a class of containers.
  var isLimited: Bool { others?.areLimited ?? false }

  func find(_ name: RequestedName, inContainer: Bool) -> Finding {
    if let others, let finding = others.find(name, inContainer: inContainer) { return finding }
    return plain.map { .winner(Borrowed($0)) } ?? .nothing
  }

  /// Whether one of these, as an instance of any supertype, may win over what makes exactly the type.
  func mayWin(for name: RequestedName, inContainer: Bool) -> Bool {
    others?.find(name, inContainer: inContainer) != nil
  }

  func candidates(named name: String?) -> [RegistrationStorage] {
    (plain.map { [$0] } ?? []) + (others?.candidates(named: name) ?? [])
  }

  /// The most specific one that takes arguments of a type.
  func taking(_ arguments: ObjectIdentifier, named name: String?) -> RegistrationStorage? {
    others?.withArguments.winner(named: name) { $0.key.arguments == arguments }
  }

  var all: [RegistrationStorage] { (plain.map { [$0] } ?? []) + (others?.all ?? []) }

  subscript(key: RegistrationKey) -> RegistrationStorage? {
    if let plain, plain.key == key { return plain }
    return others?[key]
  }

  mutating func insert(_ registration: RegistrationStorage) -> RegistrationStorage? {
    let key = registration.key
    if key.isUnlimited && (plain.map { $0.key == key } ?? (others?[key] == nil)) {
      defer { plain = registration }
      return plain
    }
    let others = self.others ?? OtherRegistrations()
    self.others = others
    return others.insert(registration)
  }

  mutating func remove(_ registration: RegistrationStorage) {
    if plain === registration { plain = nil } else { others?.remove(registration) }
  }

  mutating func removeAll() { (plain, others) = (nil, nil) }
}

/// The registrations of a group besides its first for any container and any name.
private final class OtherRegistrations {
  /// Those for any container and any name: instances of several types, each for any supertype it has.
  private var plain: [RegistrationStorage] = []
  /// Those for any container and exactly one name.
  private var named: [String: [RegistrationStorage]] = [:]
  /// Those for any container and names with a part in them.
  private var partlyNamed: [RegistrationStorage] = []
  /// Those for one class of containers.
  private var constrained: [RegistrationStorage] = []
  /// Those that take arguments.
  private(set) var withArguments: [RegistrationStorage] = []

  /// Whether one is for a name or a class of containers.
  @safe @exclusivity(unchecked) private(set) var areLimited = false
  var isEmpty: Bool { plain.isEmpty && !areLimited }

  /// What wins over the plain registration of the group, as far as one look tells; nil if nothing does.
  func find(_ name: RequestedName, inContainer: Bool) -> Finding? {
    guard areLimited else { return nil }
    if inContainer && !constrained.isEmpty { return .several }
    switch name {
    case .none: return nil
    case .known(let name):
      if let winner = named[name]?.last { return .winner(Borrowed(winner)) }
      return partlyNamed.isEmpty ? nil : .several
    case .ofProperty: return named.isEmpty && partlyNamed.isEmpty ? nil : .several
    }
  }

  func candidates(named name: String?) -> [RegistrationStorage] {
    plain + (name.flatMap { named[$0] } ?? []) + (name == nil ? [] : partlyNamed) + constrained
  }

  var all: [RegistrationStorage] {
    plain + named.values.flatMap(\.self) + partlyNamed + constrained + withArguments
  }

  subscript(key: RegistrationKey) -> RegistrationStorage? {
    (key.arguments == nil ? candidates(named: key.name?.text) : withArguments).first { $0.key == key }
  }

  func insert(_ registration: RegistrationStorage) -> RegistrationStorage? {
    change(registration.key) { list in
      let replaced = list.firstIndex { $0.key == registration.key }.map { list.remove(at: $0) }
      list.append(registration)
      return replaced
    }
  }

  func remove(_ registration: RegistrationStorage) {
    change(registration.key) { list in list.removeAll { $0 === registration } }
  }

  private func change<Result>(_ key: RegistrationKey, _ body: (inout [RegistrationStorage]) -> Result) -> Result {
    defer { areLimited = !(named.isEmpty && partlyNamed.isEmpty && constrained.isEmpty) }
    if key.arguments != nil { return body(&withArguments) }
    if key.container != nil { return body(&constrained) }
    switch key.name {
    case nil: return body(&plain)
    case .equal(let name)?:
      defer { if named[name]?.isEmpty == true { named[name] = nil } }
      return body(&named[name, default: []])
    case .containing?: return body(&partlyNamed)
    }
  }
}
