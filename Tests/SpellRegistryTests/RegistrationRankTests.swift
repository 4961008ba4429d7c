import SpellRegistry
import Testing

private class Base {}
private class Middle: Base {}
private final class Leaf: Middle {}
private final class Stranger: Base {}

/// A kind of registration that may serve `Leaf.readTimeout: any Tracker`.
private struct Candidate: Hashable, CustomStringConvertible {
  enum Container: String, CaseIterable { case leaf, leafAndBelow, middleAndBelow, baseAndBelow, any }
  enum Name: String, CaseIterable { case equal, contained, alsoContained, any }
  enum Kind: String, CaseIterable { case type, supertype }

  let container: Container
  let name: Name
  let kind: Kind

  static let all = Container.allCases.flatMap { container in
    Name.allCases.flatMap { name in
      Kind.allCases.map { Candidate(container: container, name: name, kind: $0) }
    }
  }

  var description: String { "\(container)/\(name)/\(kind)" }

  /// The ranks in the documentation's table, as numbers; the smaller number wins.
  var order: [Int] {
    let containers: [Container: Int] = [
      .leaf: 0, .leafAndBelow: 1, .middleAndBelow: 2, .baseAndBelow: 3, .any: 4,
    ]
    let names: [Name: Int] = [.equal: 0, .contained: 1, .alsoContained: 1, .any: 2]
    let kinds: [Kind: Int] = [.type: 0, .supertype: 1]
    return [containers[container]!, names[name]!, kinds[kind]!]
  }

  func register(in registry: InitializerRegistry, as label: String) {
    switch container {
    case .leaf: register(in: registry, for: Leaf.self, subclasses: false, as: label)
    case .leafAndBelow: register(in: registry, for: Leaf.self, subclasses: true, as: label)
    case .middleAndBelow: register(in: registry, for: Middle.self, subclasses: true, as: label)
    case .baseAndBelow: register(in: registry, for: Base.self, subclasses: true, as: label)
    case .any:
      switch kind {
      case .type: registry.register((any Tracker).self, named: propertyName) { FileTracker(label) }
      case .supertype: registry.register(named: propertyName, .instance(FileTracker(label), as: .anySupertype))
      }
    }
  }

  private func register<C: AnyObject>(
    in registry: InitializerRegistry, for container: C.Type, subclasses: Bool, as label: String
  ) {
    switch kind {
    case .type:
      registry.register(
        (any Tracker).self, named: propertyName,
        .in(container, subclasses: subclasses) { _ in
          FileTracker(label)
        })
    case .supertype:
      registry.register(
        named: propertyName,
        .instance(FileTracker(label), as: .anySupertype).in(container, subclasses: subclasses))
    }
  }

  private var propertyName: PropertyName? {
    switch name {
    case .equal: "readTimeout"
    case .contained: .containing("TIMEOUT")
    case .alsoContained: .containing("read")
    case .any: nil
    }
  }
}

/// Returns the index of the winner among registrations in order of registration.
private func expectedWinner(of candidates: [Candidate]) -> Int {
  candidates.indices.min { left, right in
    let (mine, others) = (candidates[left].order, candidates[right].order)
    return mine == others ? left > right : mine.lexicographicallyPrecedes(others)
  }!
}

@Suite("Which registration wins") struct RegistrationRankTests {
  private func winner(of candidates: [Candidate]) throws -> String {
    let registry = InitializerRegistry()
    for (index, candidate) in candidates.enumerated() { candidate.register(in: registry, as: "\(index)") }
    return try registry.resolve((any Tracker).self, named: "readTimeout", in: Leaf()).label
  }

  @Test("each registration alone serves the property that it matches", arguments: Candidate.all)
  fileprivate func alone(_ candidate: Candidate) throws {
    #expect(try winner(of: [candidate]) == "0")
  }

  @Test("of any two, container counts before name before kind before age", arguments: Candidate.all)
  fileprivate func pairs(_ first: Candidate) throws {
    for second in Candidate.all {
      let expected = expectedWinner(of: [first, second])
      #expect(try winner(of: [first, second]) == "\(expected)", "\(first), then \(second)")
    }
  }

  @Test("of many, in any order of registration, the same rule finds the winner")
  func many() throws {
    var generator = Xorshift(state: 0x9E37_79B9_7F4A_7C15)
    for _ in 0..<300 {
      let count = Int.random(in: 3...12, using: &generator)
      let candidates = Array(Candidate.all.shuffled(using: &generator).prefix(count))
      #expect(try winner(of: candidates) == "\(expectedWinner(of: candidates))", "\(candidates)")
    }
  }

  @Test("what is registered for another class, name, supertype or without subclasses never serves the property")
  func others() throws {
    let registry = InitializerRegistry()
    registry.register((any Tracker).self, .in(Stranger.self, subclasses: true) { _ in FileTracker("stranger") })
    registry.register((any Tracker).self, .in(Middle.self) { _ in FileTracker("exactly the superclass") })
    registry.register((any Tracker).self, named: "readTimeouts") { FileTracker("longer name") }
    registry.register((any Tracker).self, named: .containing("write")) { FileTracker("other part") }
    registry.register(FileTracker.self) { FileTracker("subtype") }
    registry.register(.instance(FileTracker("instance of its type only")))
    registry.register(.instance(Clock(), as: .anySupertype))
    #expect(throws: InjectionError.self) {
      try registry.resolve((any Tracker).self, named: "readTimeout", in: Leaf())
    }
    registry.register((any Tracker).self) { FileTracker("any") }
    #expect(try registry.resolve((any Tracker).self, named: "readTimeout", in: Leaf()).label == "any")
  }

  @Test("equal names are distinguished by case, contained ones are not")
  func letterCase() throws {
    let registry = InitializerRegistry()
    registry.register(Int.self, named: "Port") { 1 }
    #expect(registry.error(resolving: Int.self, named: "port")?.code == .notRegistered)
    registry.register(Int.self, named: .containing("pORT")) { 2 }
    #expect(try registry.resolve(Int.self, named: "httpPort2") == 2)
    #expect(try registry.resolve(Int.self, named: "Port") == 1)
  }

  @Test("a question without a name is never answered by a registration with one")
  func unnamed() {
    let registry = InitializerRegistry()
    registry.register(Int.self, named: "port") { 1 }
    registry.register(Int.self, named: .containing("")) { 2 }
    #expect(registry.error(resolving: Int.self)?.code == .notRegistered)
  }

  @Test("a property's own expression stands between its container's registration and all others")
  func expression() throws {
    final class Page { @Spell var tracker: any Tracker = FileTracker("own") }
    class Screen { @Spell var tracker: any Tracker = FileTracker("own") }
    final class Popover: Screen {}
    let registry = InitializerRegistry()
    registry.register((any Tracker).self, named: "tracker") { FileTracker("any container") }
    registry.register(.instance(FileTracker("universal"), as: .anySupertype))
    #expect(registry.run { Page() }.tracker.label == "own")
    registry.register((any Tracker).self, .in(Page.self) { _ in FileTracker("page") })
    registry.register((any Tracker).self, .in(Screen.self, subclasses: true) { _ in FileTracker("screens") })
    #expect(registry.run { Page() }.tracker.label == "page")
    #expect(registry.run { Popover() }.tracker.label == "screens")
  }

  @Test("a registration for a container in the parent comes before the property's own expression")
  func expressionAndParent() {
    final class Page { @Spell var tracker: any Tracker = FileTracker("own") }
    let parent = InitializerRegistry()
    parent.register((any Tracker).self, .in(Page.self) { _ in FileTracker("parent's page") })
    let child = InitializerRegistry(parent: parent)
    child.register((any Tracker).self) { FileTracker("child's any") }
    #expect(child.run { Page() }.tracker.label == "parent's page")
  }

  @Test("a subclass gets what is registered for exactly it, before what its superclass has with subclasses")
  func dynamicClass() throws {
    let registry = InitializerRegistry()
    registry.register(Int.self, .in(Base.self, subclasses: true) { _ in 1 })
    registry.register(Int.self, .in(Middle.self) { _ in 2 })
    let asBase: Base = Middle()
    #expect(try registry.resolve(Int.self, in: asBase) == 2)
    #expect(try registry.resolve(Int.self, in: Leaf()) == 1)
    #expect(try registry.resolve(Int.self, in: Base()) == 1)
  }

  @Test("the initializer is given the container that asks")
  func containerArgument() throws {
    let registry = InitializerRegistry()
    registry.register(ObjectIdentifier.self, .in(Base.self, subclasses: true) { ObjectIdentifier($0) })
    let leaf = Leaf()
    #expect(try registry.resolve(ObjectIdentifier.self, in: leaf) == ObjectIdentifier(leaf))
  }

  private struct Plain: Sendable, CustomStringConvertible { let description = "plain" }
  // `@unchecked Sendable`: the class and its subclass have no properties.
  private class Account: @unchecked Sendable, Hashable {
    static func == (left: Account, right: Account) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
  private final class Savings: Account, @unchecked Sendable {}

  @Test("an instance of any supertype serves its superclasses and protocols, and nothing that a cast makes of it")
  func supertypes() throws {
    let registry = InitializerRegistry()
    registry.register(.instance(Plain(), as: .anySupertype))
    #expect(try registry.resolve((any CustomStringConvertible).self).description == "plain")
    #expect(try registry.resolve(Any.self) is Plain)
    #expect(try registry.resolve(AnyObject?.self) == nil)
    let other = InitializerRegistry()
    other.register(.instance(Plain() as any CustomStringConvertible & Sendable, as: .anySupertype))
    #expect(try other.resolve(Plain.self).description == "plain")
    #expect(try registry.resolveAll((any CustomStringConvertible)?.self).count == 1)
    registry.register(.instance(ContinuousClock(), as: .anySupertype))
    #expect(try registry.resolve((any Swift.Clock<Duration>).self) is ContinuousClock)
    #expect(try registry.resolve((any Error)?.self) == nil)
    registry.register(.instance(Offline(), as: .anySupertype))
    #expect(try registry.resolve((any Error & Sendable).self) is Offline)
    let savings = Savings()
    registry.register(.instance(savings, as: .anySupertype))
    registry.register(.instance([savings], as: .anySupertype))
    #expect(try registry.resolve(Account.self) === savings)
    #expect(try registry.resolve(AnyObject.self) === savings)
    #expect(try registry.resolve(AnyHashable?.self) == nil)
    #expect(try registry.resolve([Account]?.self) == nil)
  }
}

private struct Xorshift: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
