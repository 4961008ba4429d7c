import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Token: Sendable {}

extension Shared<(@Sendable () -> Void)?> {
  /// Returns the function that is stored, and leaves none.
  fileprivate func takeValue() -> (@Sendable () -> Void)? {
    var taken: (@Sendable () -> Void)?
    update { swap(&$0, &taken) }
    return taken
  }
}

@Suite("An expiring scope on a registry's clock", .timeLimit(.hang)) struct ExpiringScopeTests {
  let clock = TestClock()
  let registry: InitializerRegistry

  init() {
    clock.advance(by: .seconds(1_000_000))
    registry = InitializerRegistry(clock: clock)
    registry.register(Token.self, scope: .singleton.expiring(after: .seconds(60))) { Token() }
  }

  @Test("keeps its value until its age is over, to the nanosecond")
  func edge() throws {
    let first = try registry.resolve(Token.self)
    clock.advance(by: .seconds(60) - .nanoseconds(1))
    #expect(try registry.resolve(Token.self) === first)
    clock.advance(by: .nanoseconds(1))
    let second = try registry.resolve(Token.self)
    #expect(second !== first)
    clock.advance(by: .seconds(59))
    #expect(try registry.resolve(Token.self) === second)
  }

  @Test("measures the age from the creation, not from the last use")
  func age() throws {
    let first = try registry.resolve(Token.self)
    for _ in 0..<3 {
      clock.advance(by: .seconds(15))
      #expect(try registry.resolve(Token.self) === first)
    }
    clock.advance(by: .seconds(15))
    #expect(try registry.resolve(Token.self) !== first)
  }

  @Test("counts from the end of a slow creation")
  func slowCreation() throws {
    let clock = clock
    registry.register(Token.self, scope: .singleton.expiring(after: .seconds(60))) {
      clock.advance(by: .seconds(100))
      return Token()
    }
    let first = try registry.resolve(Token.self)
    clock.advance(by: .seconds(59))
    #expect(try registry.resolve(Token.self) === first)
  }

  @Test("makes a value once, even if the age of the value before it ends meanwhile", arguments: [true, false])
  func slowSuccessor(isWeak: Bool) throws {
    let (registry, clock, runs) = (registry, clock, Counter())
    let scope: Scope<Token?> = isWeak ? .weak : .singleton
    registry.register(Token?.self, scope: scope.expiring(after: .seconds(60))) {
      if runs.increment() == 1 { return isWeak ? Token() : nil }
      clock.advance(by: .seconds(2))
      // A request for another name may join the run in progress, which is a cycle here.
      _ = try? registry.resolve(Token?.self, named: "other")
      return Token()
    }
    _ = try registry.resolve(Token?.self)
    clock.advance(by: .seconds(59))
    let second = try registry.resolve(Token?.self)
    #expect(runs.value == 2)
    #expect(try registry.resolve(Token?.self) === second)
    clock.advance(by: .seconds(60))
    #expect(try registry.resolve(Token?.self) !== second)
  }

  @Test("works with cached, weak and async values")
  func otherScopes() async throws {
    let cache = ScopeCache("cache")
    registry.register(Token.self, named: "cached", scope: .cached(in: cache).expiring(after: .seconds(5))) { Token() }
    registry.register(Token.self, named: "weak", scope: .weak.expiring(after: .seconds(5))) { Token() }
    registry.register(Token.self, named: "async", scope: .singleton.expiring(after: .seconds(5)), .async { Token() })
    for name in ["cached", "weak", "async"] {
      let first = try await registry.resolveAsync(Token.self, named: name)
      #expect(try await registry.resolveAsync(Token.self, named: name) === first)
      clock.advance(by: .seconds(5))
      #expect(try await registry.resolveAsync(Token.self, named: name) !== first)
    }
  }

  @Test("uses the clock of its registry: a child has its parent's clock, unless it has its own")
  func children() throws {
    let heir = InitializerRegistry(parent: registry)
    heir.register(Token.self, named: "heir", scope: .singleton.expiring(after: .seconds(60))) { Token() }
    let own = TestClock()
    let stranger = InitializerRegistry(parent: registry, clock: own)
    stranger.register(Token.self, named: "own", scope: .singleton.expiring(after: .seconds(60))) { Token() }
    let inherited = try heir.resolve(Token.self, named: "heir")
    let (parents, owned) = (try stranger.resolve(Token.self), try stranger.resolve(Token.self, named: "own"))

    clock.advance(by: .seconds(60))
    #expect(try heir.resolve(Token.self, named: "heir") !== inherited)
    #expect(try stranger.resolve(Token.self) !== parents)
    #expect(try stranger.resolve(Token.self, named: "own") === owned)
    own.advance(by: .seconds(60))
    #expect(try stranger.resolve(Token.self, named: "own") !== owned)
  }

  @Test("is the only scope that reads the clock")
  func plainScopes() throws {
    let reads = Counter()
    let registry = InitializerRegistry(clock: ObservedClock { reads.increment() })
    let count = reads.value
    registry.register(Token.self, scope: .singleton) { Token() }
    registry.register(Int.self, scope: .cached(in: ScopeCache("cache"))) { 1 }
    for _ in 0..<3 {
      _ = try registry.resolve(Token.self)
      _ = try registry.resolve(Int.self)
    }
    #expect(reads.value == count)
    registry.register(Int.self, scope: .singleton.expiring(after: .seconds(1))) { 1 }
    _ = try registry.resolve(Int.self)
    #expect(reads.value > count)
  }

  @Test("gives the value of a registration that replaces it while its clock is read", arguments: [true, false])
  func replacement(isAsync: Bool) async throws {
    let (replace, new) = (Shared<(@Sendable () -> Void)?>(nil), Token())
    let registry = InitializerRegistry(clock: ObservedClock { replace.takeValue()?() })
    let scope = Scope<Token>.singleton.expiring(after: .seconds(60))
    let initializer: Initializer<Token> = isAsync ? .async { Token() } : Initializer { Token() }
    let former = registry.register(Token.self, scope: scope, initializer)
    #expect(try await registry.resolveAsync(Token.self) !== new)
    replace.update { replace in
      replace = {
        former.unregister()
        registry.register(.instance(new))
      }
    }
    #expect(try registry.resolve(Token.self) === new)
  }

  @Test("arguments of expired values are released while only others are asked for")
  func arguments() throws {
    let (gone, clock) = (Counter(), TestClock())
    let registry = InitializerRegistry(clock: clock)
    registry.register(
      ArgumentFactory<Int, Seat>.self, .factory(scope: .singleton.expiring(after: .seconds(1))) { $1.number })
    for number in 0..<1_000 { _ = try registry.resolve(Int.self, arguments: Seat(number, gone)) }
    clock.advance(by: .seconds(2))
    for number in 0..<10_000 { _ = try registry.resolve(Int.self, arguments: Seat(number % 10, gone)) }
    #expect(gone.value >= 10_980)
  }
}

/// An argument that is counted once it is released.
private final class Seat: Hashable, Sendable {
  let number: Int
  let gone: Counter
  init(_ number: Int, _ gone: Counter) { (self.number, self.gone) = (number, gone) }
  deinit { gone.increment() }
  static func == (left: Seat, right: Seat) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// A clock that stands still and calls a function each time it is read.
private struct ObservedClock: Clock {
  let onRead: @Sendable () -> Void
  var minimumResolution: Duration { .zero }

  init(onRead: @escaping @Sendable () -> Void) { self.onRead = onRead }

  var now: TestClock.Instant {
    onRead()
    return TestClock.Instant()
  }

  func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {}
}
