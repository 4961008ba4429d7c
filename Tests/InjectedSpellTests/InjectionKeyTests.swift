import InjectedSpell
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

private protocol Bell: Sendable { var sound: String { get } }
private struct Chime: Bell { var sound = "chime" }
private struct Gong: Bell { let sound = "gong" }
private final class Made: Sendable {
  static let count = Atomic(0)
  init() { Self.count.add(1, ordering: .relaxed) }
}
private final class Token: Sendable {}
private struct Pair: Sendable { let token: Token, bell: any Bell }

extension InjectionKeys {
  fileprivate static let bell = InjectionKey<any Bell>(scope: .singleton) { Chime() }
  fileprivate static let secondBell = InjectionKey<any Bell> { Chime(sound: "second") }
  fileprivate static let counted = InjectionKey(scope: .singleton) { Made() }
  fileprivate static let kept = InjectionKey(scope: .singleton) { Token() }
  fileprivate static let word = InjectionKey { "live" }.test { "test" }.preview { "preview" }
  fileprivate static let sentence = InjectionKey { try $0.resolve(.word) + "!" }
  fileprivate static let pair = InjectionKey(.autowire(Pair.init))
  fileprivate static let optional = InjectionKey<Token?> { nil }
  fileprivate static let session = InjectionKey(scope: .singleton, .async { Token() })
}

private final class Tower {
  @Injected(.bell) var bell
  @Injected(.secondBell) var otherBell
  @Injected(.word, .everyRead) var word
  @Injected(.optional) var token
}

@Suite("A declared key", .registry, .timeLimit(.hang))
struct InjectionKeyTests {
  var registry: InitializerRegistry { .current }

  @Test("is a separate service, which its type and other keys of that type don't serve")
  func identity() throws {
    registry.register((any Bell).self) { Gong() }
    registry.register(.instance(Gong(), as: .anySupertype))
    let tower = Tower()
    #expect(tower.bell.sound == "chime")
    #expect(tower.otherBell.sound == "second")
    #expect(tower.token == nil)
    #expect(try registry.resolve((any Bell).self).sound == "gong")
  }

  @Test("has a kept value for each context, which a registry shares with its parents up to one of another context")
  func contextsInBetween() throws {
    let root = InitializerRegistry(context: .test)
    let middle = InitializerRegistry(parent: root, context: .live)
    let leaf = InitializerRegistry(parent: middle, context: .test)
    let inner = InitializerRegistry(parent: leaf)
    for _ in 1...2 {
      let tokens = try [root, middle, leaf, inner].map { try $0.resolve(.kept) }
      #expect(Set(tokens.map { ObjectIdentifier($0) }).count == 3)
      #expect(tokens[2] === tokens[3])
    }
    #expect(try [root, middle, leaf, inner].map { try $0.resolve(.word) } == ["test", "live", "test", "test"])
    let token = Token()
    root.register(.kept, .instance(token))
    #expect(try inner.resolve(.kept) === token)
  }

  @Test("takes registrations for a name, a class, an instance, and asynchronous and autowired ones")
  func forms() async throws {
    registry.register(.bell, .instance(Gong()))
    registry.register(.secondBell, named: "otherBell") { Gong() }
    #expect(Tower().bell.sound == "gong")
    #expect(Tower().otherBell.sound == "gong")
    #expect(try registry.resolve(.secondBell).sound == "second")
    registry.register(
      .word,
      .in(Tower.self) { tower, resolver in
        try tower.bell.sound + resolver.resolve(.secondBell).sound
      })
    #expect(Tower().word == "gongsecond")
    registry.register((any Bell).self) { Gong() }
    registry.register { Token() }
    #expect(try registry.resolve(.pair).bell.sound == "gong")
    #expect(registry.validate().isEmpty)
    registry.register(.word, .async { "awaited" })
    #expect(try await registry.resolveAsync(.word) == "awaited")
  }

  @Test("keeps its singleton through an override that is withdrawn")
  func override() throws {
    let before = try registry.resolve(.kept)
    registry.register(.kept, .instance(Token())).unregister()
    #expect(try registry.resolve(.kept) === before)
  }

  @Test("that is made again at its place stops the program, since what is registered for the first wouldn't be used")
  func madeTwice() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      enum Keys { static var computed: InjectionKey<Int> { InjectionKey(scope: .singleton) { 1 } } }
      _ = try InitializerRegistry.shared.resolve(Keys.computed)
      _ = try InitializerRegistry.shared.resolve(Keys.computed)
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("A declared key is made a second time at InjectedSpellTests/InjectionKeyTests.swift:"))
    #expect(message.contains("static let"))
  }

  @Test("that is asynchronous is read once it was awaited")
  func asynchronous() async throws {
    let registry = registry
    let error = #expect(throws: InjectionError.self) { try registry.resolve(.session) }
    #expect(error?.code == .notReady)
    let session = try await registry.resolveAsync(.session)
    #expect(try registry.resolve(.session) === session)
  }

  @Test("has one value in the outermost registry that is asked, however many threads ask first")
  func sharedOnce() async throws {
    let before = Made.count.load(ordering: .relaxed)
    let registry = registry
    let made = try await withThrowingTaskGroup { group in
      for index in 0..<16 {
        group.addTask {
          try (index.isMultiple(of: 2) ? registry : InitializerRegistry(parent: registry)).resolve(.counted)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(made.allSatisfy { $0 === made[0] })
    #expect(Made.count.load(ordering: .relaxed) == before + 1)
    registry.removeAll()
    #expect(try registry.resolve(.counted) !== made[0])
  }

  @Test("follows the context of the registry that is asked, even if its parent has another")
  func contexts() throws {
    let live = InitializerRegistry()
    let preview = InitializerRegistry(parent: live, context: .preview)
    #expect(try preview.resolve(.sentence) == "preview!")
    #expect(try live.resolve(.sentence) == "live!")
    #expect(try InitializerRegistry(parent: preview).resolve(.word) == "preview")
    live.register(.word) { "registered" }
    #expect(try preview.resolve(.word) == "registered")
    #expect(InitializerRegistry.shared.context == .test)
  }

  @Test("that is registered again reaches live properties through reinject(_:) of the key")
  func reinjected() {
    let tower = Tower()
    #expect(tower.bell.sound == "chime")
    registry.register(.bell) { Gong() }
    registry.reinject((any Bell).self)
    #expect(tower.bell.sound == "chime")
    registry.reinject(.bell)
    #expect(tower.bell.sound == "gong")
  }

  @Test("calls hooks of a property, a registration and the registry")
  func hooks() {
    final class Listener {
      var heard: [String] = []
      @Injected(.bell, onInjection: Listener.didGet) var bell
      func didGet(_ bell: any Bell) { heard.append(bell.sound) }
    }
    let registered = Mutex<[String]>([])
    registry.register(.bell) { Gong() }.onInjection { bell, _ in registered.withLock { $0.append(bell.sound) } }
    let listener = Listener()
    _ = listener.bell
    #expect(listener.heard == ["gong"])
    #expect(registered.withLock { $0 } == ["gong"])
  }

  @Test("is distinguished in the graph and in errors by where it is declared")
  func diagnosed() throws {
    registry.register(.bell) { Chime() }
    registry.register(.secondBell) { Chime() }
    let nodes = registry.graph().nodes.map(\.type).filter { $0.contains("Bell") }
    #expect(nodes.count == 2 && nodes.allSatisfy { $0.contains("InjectionKeyTests.swift:") })
    struct Broken: Error {}
    registry.register(.word) { throw Broken() }
    let error = try #require(throws: InjectionError.self) { try registry.resolve(.sentence) }
    #expect(error.path == ["String", "String"])
    #expect(error.description.contains("of the key declared at InjectedSpellTests/InjectionKeyTests.swift:"))
  }

  @Test("whose live initializer a strict test reaches records one issue that names the property", .registry(.strict))
  func strict() async {
    let (stream, receiver) = AsyncStream.makeStream(of: (text: String, location: SourceLocation).self)
    Issue.$receiver.withValue(receiver) {
      #expect(Tower().bell.sound == "chime")
      #expect(Tower().bell.sound == "chime")
    }
    receiver.finish()
    let issues = await stream.reduce(into: []) { $0.append($1.text) }
    #expect(issues.count == 1)
    #expect(issues.allSatisfy { $0.contains("Tower.bell") && $0.contains("InjectionKeyTests.swift:") })
    #expect(Tower().word == "test")
  }
}

@Suite("A registry that isn't the current one", .registry)
struct RegisteredElsewhereTests {
  @Test("names the current one in its error, if that has what is missing")
  func namesTheCurrentOne() {
    let registry = InitializerRegistry.current
    registry.register { Token() }
    let other = InitializerRegistry()
    let error = #expect(throws: InjectionError.self) { try other.resolve(Token.self) }
    #expect(error?.description.contains("isn't the current one") == true)
    #expect(error?.description.contains("InjectionKeyTests.swift:") == true)
  }

  @Test("names the current one even for a registration with a name, and for one of a class")
  func withNameOrClass() {
    let shelf = InitializerRegistry().run { Shelf() }
    let registry = InitializerRegistry.current
    registry.register((any Bell).self, named: "bell") { Gong() }
    let named = #expect(throws: InjectionError.self) { try shelf.$bell.resolve() }
    #expect(named?.description.contains("isn't the current one") == true)
    registry.removeAll()
    registry.register((any Bell).self, .in(Shelf.self) { _ in Gong() })
    let ofClass = #expect(throws: InjectionError.self) { try shelf.$bell.resolve() }
    #expect(ofClass?.description.contains("isn't the current one") == true)
  }
}

extension InjectionKeys {
  fileprivate static let ring: InjectionKey<Ring> = InjectionKey { Ring(chain: try $0.resolve(.chain)) }
  fileprivate static let chain: InjectionKey<Chain> = InjectionKey { Chain(ring: try $0.resolve(.ring)) }
}
private struct Ring { init(chain: Chain) {} }
private struct Chain { init(ring: Ring) {} }
private final class Box { @Injected(.ring) var ring }

private final class First {
  let second: Second
  init(second: Second) { self.second = second }
}
private final class Second {
  @Injected var first: First
  init() { _ = first }
}
private final class Shelf {
  @Injected var bell: any Bell
  @Injected(.word) var word
}

@Suite("What a message says", .timeLimit(.hang))
struct MessageTests {
  @Test("a cycle of declared keys goes one lap, and advises the key")
  func keyCycle() throws {
    let error = try #require(throws: InjectionError.self) { try Box().$ring.resolve() }
    #expect(error.description.contains("Ring → Chain → Ring."))
    #expect(!error.description.contains("Path:"))
    #expect(error.description.contains("Let Chain ask for it after `init`, by a constant: let later = Injected(.key)"))
  }

  @Test("a cycle through a property that is read goes one lap and names the type that is first there twice")
  func cycle() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry.shared.register(.autowire(First.init))
      InitializerRegistry.shared.register { Second() }
      _ = try InitializerRegistry.shared.resolve(First.self)
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("The initializer of First"))
    #expect(message.contains("needs its own result: First → Second → First."))
  }

  @Test("a property is printed with its value and where it is declared", .registry)
  func descriptions() {
    let shelf = Shelf()
    func wrapper(_ name: String) -> String {
      "\(Mirror(reflecting: shelf).children.first { $0.label == "_\(name)" }!.value)"
    }
    #expect(
      wrapper("word").hasPrefix(
        "Injected<String>(no value yet, declared at InjectedSpellTests/InjectionKeyTests.swift:"))
    _ = shelf.word
    #expect(wrapper("word").hasPrefix("Injected<String>(test, declared at"))
  }

  @Test("the error of a missing generic service names one with another argument", .registry)
  func generic() {
    struct Loader<Item> {}
    let registry = InitializerRegistry.current
    registry.register { Loader<Int>() }
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Loader<String>.self) }
    #expect(error?.description.contains("Registered, but not for this: Loader<Int>") == true)
  }

  @Test("validate() finds an instance for any supertype that an older registration of a protocol keeps out", .registry)
  func losingInstance() throws {
    let registry = InitializerRegistry.current
    registry.register((any Bell).self) { Chime() }
    registry.register(.instance(Gong(), as: .anySupertype))
    #expect(registry.validate().map(\.code) == [.shadowed])
    registry.register((any Bell).self, .instance(Gong()))
    #expect(registry.validate().isEmpty)
    #expect(try registry.resolve((any Bell).self).sound == "gong")
  }

  @Test("an awaited value that no scope keeps is said to be kept by none", .registry)
  func uniqueAsync() async throws {
    let registry = InitializerRegistry.current
    registry.register(.async { Token() })
    _ = try await registry.resolveAsync(Token.self)
    let error = #expect(throws: InjectionError.self) { try registry.resolve(Token.self) }
    #expect(error?.description.contains("scope that keeps it, such as .singleton") == true)
  }
}
