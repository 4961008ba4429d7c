import SpellRegistry
import TestSupport
import Testing

@Suite("Arguments", .timeLimit(.hang))
struct ScopedArgumentsTests {
  final class Room: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }
  struct Ticket: Equatable { let number: Int, name: String, isPaid: Bool }

  let registry = InitializerRegistry()

  @Test("can be several, without a tuple")
  func several() throws {
    registry.register(
      ArgumentFactory<Ticket, Int, String>.self,
      .factory { _, number, name in
        Ticket(number: number, name: name, isPaid: false)
      })
    registry.register(
      ArgumentFactory<Ticket, Int, String, Bool>.self,
      .factory { _, number, name, isPaid in
        Ticket(number: number, name: name, isPaid: isPaid)
      })
    #expect(try registry.resolve(Ticket.self, arguments: 7, "Ada") == Ticket(number: 7, name: "Ada", isPaid: false))
    #expect(
      try registry.resolve(Ticket.self, arguments: 8, "Bob", true) == Ticket(number: 8, name: "Bob", isPaid: true))
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Ticket?.self, arguments: "Ada", 7) }
    #expect(error?.description.contains("ArgumentFactory<Ticket, Int, String>, at") == true)
  }

  @Test("come with a name, the registration for that name first")
  func named() throws {
    registry.register(ArgumentFactory<Room, Int>.self, .factory { _, number in Room("any \(number)") })
    registry.register(ArgumentFactory<Room, Int>.self, named: "blue", .factory { _, number in Room("blue \(number)") })
    #expect(try registry.resolve(Room.self, arguments: 1, named: "blue").name == "blue 1")
    #expect(try registry.resolve(Room.self, arguments: 1, named: "red").name == "any 1")
    #expect(try registry.resolve(Room.self, arguments: 1).name == "any 1")
  }

  @Test("that are equal share the value of scope .graph within one resolution")
  func graph() throws {
    registry.register(ArgumentFactory<Room, String>.self, .factory(scope: .graph) { _, name in Room(name) })
    registry.register([Room].self) { resolver in
      try ["blue", "red", "blue"].map { try resolver.resolve(Room.self, arguments: $0) }
    }
    let rooms = try registry.resolve([Room].self)
    #expect(rooms.map(\.name) == ["blue", "red", "blue"])
    #expect(rooms[0] === rooms[2])
    #expect(try registry.resolve([Room].self)[0] !== rooms[0])
    #expect(try registry.resolve(Room.self, arguments: "red") !== rooms[1])
  }

  @Test("that are equal share nothing with scope .unique")
  func unique() throws {
    registry.register(ArgumentFactory<Room, String>.self, .factory(scope: .unique) { _, name in Room(name) })
    registry.register([Room].self) { resolver in
      try ["blue", "blue"].map { try resolver.resolve(Room.self, arguments: $0) }
    }
    let rooms = try registry.resolve([Room].self)
    #expect(rooms[0] !== rooms[1])
  }

  @Test("that are equal share what the scope keeps, made once however many threads ask")
  func scoped() async throws {
    let registry = registry
    registry.register(ArgumentFactory<Room, String>.self, .factory(scope: .singleton) { _, name in Room(name) })
    let rooms = try await withThrowingTaskGroup { group in
      for index in 0..<40 {
        group.addTask { try registry.resolve(Room.self, arguments: index.isMultiple(of: 2) ? "blue" : "red") }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(rooms.map(\.name)) == ["blue", "red"])
    #expect(Set(rooms.map { ObjectIdentifier($0) }).count == 2)
  }

  @Test("are released with an expired value, when values are made for others")
  func expired() throws {
    registry.register(
      ArgumentFactory<Room, Int>.self,
      .factory(scope: .singleton.expiring(after: .zero)) { _, number in
        Room("\(number)")
      })
    weak var first: Room?
    do {
      let room = try registry.resolve(Room.self, arguments: 0)
      first = room
    }
    for number in 1...40 { _ = try registry.resolve(Room.self, arguments: number) }
    #expect(first == nil)
  }

  @Test("that are several are compared one by one")
  func scopedByList() throws {
    let cache = ScopeCache("rooms")
    registry.register(
      ArgumentFactory<Room, Int, String>.self,
      .factory(scope: .cached(in: cache)) { _, number, name in
        Room("\(name) \(number)")
      })
    let room = try registry.resolve(Room.self, arguments: 1, "blue")
    #expect(try registry.resolve(Room.self, arguments: 1, "blue") === room)
    #expect(try registry.resolve(Room.self, arguments: 2, "blue") !== room)
    cache.reset()
    #expect(try registry.resolve(Room.self, arguments: 1, "blue") !== room)
  }

  @Test("of a withdrawn registration keep nothing")
  func withdrawn() throws {
    let registration = registry.register(
      ArgumentFactory<Room, Int>.self, .factory(scope: .singleton) { _, _ in Room("kept") })
    weak var room: Room?
    room = try registry.resolve(Room.self, arguments: 1)
    #expect(room != nil)
    registration.unregister()
    #expect(room == nil)
    #expect(try registry.resolve(Room?.self, arguments: 1) == nil)
  }

  @Test("of a value that needs itself with the same arguments are a cycle")
  func cycle() throws {
    registry.register(
      ArgumentFactory<Room, Int>.self,
      .factory(scope: .singleton) { resolver, number in
        try resolver.resolve(Room.self, arguments: number)
      })
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Room.self, arguments: 1) }
    #expect(error?.code == .cycle)
  }

  @Test("values that are kept for arguments are completed like others, even by completions that are added later")
  func additions() throws {
    let completed = Counter()
    let registration = registry.register(
      ArgumentFactory<Room, Int>.self,
      .factory(scope: .singleton) { _, number in
        Room("room \(number)")
      })
    #expect(try registry.resolve(Room.self, arguments: 1).name == "room 1")
    registration.onCompletion { _, _ in completed.increment() }
    #expect(try registry.resolve(Room.self, arguments: 2).name == "room 2")
    #expect(try registry.resolve(Room.self, arguments: 1) === registry.resolve(Room.self, arguments: 1))
    #expect(completed.value == 1)
  }

  /// Arguments whose `hash` and `==` ask the registry.
  private struct Asking: Hashable, Sendable {
    let number: Int
    let registry: InitializerRegistry

    private func ask() {
      if number > 0 { _ = try? registry.resolve(FileTracker.self, arguments: Asking(number: 0, registry: registry)) }
    }

    static func == (left: Asking, right: Asking) -> Bool {
      left.ask()
      return left.number == right.number
    }

    func hash(into hasher: inout Hasher) {
      ask()
      hasher.combine(number)
    }
  }

  @Test("arguments may ask for the same registration's values while they are looked up")
  func asking() throws {
    let registry = InitializerRegistry()
    registry.register(
      ArgumentFactory<FileTracker, Asking>.self, .factory(scope: .singleton) { FileTracker("\($1.number)") })
    let first = try registry.resolve(FileTracker.self, arguments: Asking(number: 7, registry: registry))
    let second = try registry.resolve(FileTracker.self, arguments: Asking(number: 7, registry: registry))
    #expect(first === second)
    #expect(try registry.resolve(FileTracker.self, arguments: Asking(number: 8, registry: registry)) !== first)
  }

  /// An argument that counts its releases.
  private final class Seat: Hashable, Sendable {
    let number: Int
    let gone: Counter
    init(_ number: Int, _ gone: Counter) { (self.number, self.gone) = (number, gone) }
    deinit { gone.increment() }
    static func == (left: Seat, right: Seat) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }
  private struct SoldOut: Error {}

  enum End: CaseIterable { case weak, reset, failure }

  @Test("go with their values", arguments: End.allCases)
  func released(_ end: End) throws {
    let (gone, cache) = (Counter(), ScopeCache("show"))
    registry.register(
      ArgumentFactory<Room, Seat>.self,
      .factory(scope: end == .weak ? .weak : .cached(in: cache)) { _, seat in
        if end == .failure { throw SoldOut() }
        return Room("\(seat.number)")
      })
    for number in 0..<1_000 { _ = try? registry.resolve(Room.self, arguments: Seat(number, gone)) }
    if end == .reset { cache.reset() }
    // The arguments of weak values are removed only from time to time.
    #expect(gone.value > 900)
  }

  private final class Guest: Hashable, Sendable {
    let goodbye: Farewell
    init(_ body: @escaping @Sendable () -> Void) { goodbye = Farewell(body) }
    static func == (left: Guest, right: Guest) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  enum Removal: CaseIterable { case unregister, replacement, reset, removeAll, end }

  @Test("may ask the registry in their deinitializers, however their values go", arguments: Removal.allCases)
  func askedByDeinitializers(_ removal: Removal) throws {
    let (answers, cache) = (Counter(), ScopeCache("hotel"))
    do {
      let registry = InitializerRegistry()
      registry.register(Clock.self, scope: .singleton) { Clock() }
      let rooms = Initializer.factory(scope: .cached(in: cache)) { (_: Resolver, guest: Guest) in Room("room") }
      let registration = registry.register(rooms)
      weak let asked = registry
      for _ in 0..<3 {
        let guest = Guest { if (try? asked?.resolve(Clock.self)) != nil { answers.increment() } }
        _ = try registry.resolve(Room.self, arguments: guest)
      }
      switch removal {
      case .unregister: registration.unregister()
      case .replacement: registry.register(rooms)
      case .reset: cache.reset()
      case .removeAll: registry.removeAll()
      case .end: break
      }
      #expect(answers.value == (removal == .end ? 0 : 3))
    }
  }
}
