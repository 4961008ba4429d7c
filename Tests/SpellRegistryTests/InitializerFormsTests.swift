import SpellRegistry
import TestSupport
import Testing

/// A value for the tests of each form of an initializer in each place that takes one.
private struct Pair: Equatable, Sendable {
  var left = 1
  var right = 2
}
extension InjectionKeys {
  fileprivate static let pair = InjectionKey { Pair() }.test { Pair(left: 10, right: 20) }
}

@Suite("Every initializer", .timeLimit(.hang)) struct InitializerFormsTests {
  struct Product: Equatable, Sendable { let text: String }

  enum Form: CaseIterable {
    case closure, resolver, autowired
    case onMainActor, onMainActorWithResolver, autowiredOnMainActor
    case async, asyncWithResolver, instance

    var initializer: Initializer<Product> {
      switch self {
      case .closure: .init { Product(text: "closure") }
      case .resolver: .init { Product(text: try $0.resolve()) }
      case .autowired: .autowire(Product.init(text:))
      case .onMainActor: .onMainActor { Product(text: Page.title) }
      case .onMainActorWithResolver: .onMainActor { Product(text: Page.title + (try $0.resolve())) }
      case .autowiredOnMainActor: .autowireOnMainActor { @MainActor (text: String) in Product(text: Page.title + text) }
      case .async: .async { Product(text: await Page.title) }
      case .asyncWithResolver: .async { Product(text: try await $0.resolveAsync()) }
      case .instance: .instance(Product(text: "instance"))
      }
    }

    var text: String {
      switch self {
      case .closure: "closure"
      case .resolver, .autowired, .asyncWithResolver: "needed"
      case .onMainActor, .async: "page"
      case .onMainActorWithResolver, .autowiredOnMainActor: "pageneeded"
      case .instance: "instance"
      }
    }
  }

  enum FactoryForm: CaseIterable {
    case factory, keeping, onMainActor

    var initializer: Initializer<ArgumentFactory<Thing, Int>> {
      switch self {
      case .factory: .factory { resolver, number in Thing("\(try resolver.resolve(String.self)) \(number)") }
      case .keeping:
        .factory(scope: .singleton) { resolver, number in Thing("\(try resolver.resolve(String.self)) \(number)") }
      case .onMainActor:
        .factoryOnMainActor { resolver, number in
          _ = Page.title
          return Thing("\(try resolver.resolve(String.self)) \(number)")
        }
      }
    }
  }

  final class Thing: Sendable {
    let text: String
    init(_ text: String) { self.text = text }
  }

  enum Place: CaseIterable {
    case type, key, declaration, test, preview

    /// Returns a registry in which the initializer makes a value, and the key that it is for, if it is for one.
    func registry<Value: Sendable>(
      with initializer: Initializer<Value>, line: UInt
    ) -> (registry: InitializerRegistry, key: InjectionKey<Value>?) {
      // Each key needs its own place, so these have columns that no other declaration has.
      let column = UInt(Place.lastColumn.increment()) + 1_000
      func key() -> InjectionKey<Value> {
        InjectionKey(line: line, column: column) { throw Offline() }
      }
      let registry = InitializerRegistry(context: self == .test ? .test : self == .preview ? .preview : .live)
      registry.register { "needed" }
      switch self {
      case .type:
        registry.register(initializer)
        return (registry, nil)
      case .key:
        let key = key()
        registry.register(key, initializer)
        return (registry, key)
      case .declaration: return (registry, InjectionKey(line: line, column: column, initializer))
      case .test: return (registry, key().test(initializer))
      case .preview: return (registry, key().preview(initializer))
      }
    }

    private static let lastColumn = Counter()
  }

  @MainActor final class Page {
    static var title: String { "page" }
    nonisolated let title = "page"
    nonisolated init() {}
  }
  final class OtherPage: Sendable {}

  @Test("makes the value of a type, of a key's registration, and of a key", arguments: Form.allCases, Place.allCases)
  func value(form: Form, place: Place) async throws {
    let (registry, key) = place.registry(with: form.initializer, line: #line)
    let value =
      if let key { try await registry.resolveAsync(key) } else { try await registry.resolveAsync(Product.self) }
    #expect(value.text == form.text)
  }

  @Test("of factories works in the same places", arguments: FactoryForm.allCases, Place.allCases)
  @MainActor func factory(form: FactoryForm, place: Place) throws {
    let (registry, key) = place.registry(with: form.initializer, line: #line)
    let factory =
      if let key { try registry.resolve(key) } else { try registry.resolve() as ArgumentFactory<Thing, Int> }
    let thing = try factory(7)
    #expect(thing.text == "needed 7")
    #expect(try (factory(7) === thing) == (form == .keeping))
    if place == .type { #expect(try registry.resolve(Thing.self, arguments: 8).text == "needed 8") }
  }

  enum ClassForm: CaseIterable {
    case container, containerAndResolver, autowired, instance
    case onMainActor, onMainActorWithResolver, autowiredOnMainActor

    var initializer: Initializer<Product> {
      switch self {
      case .container: .in(Page.self) { Product(text: $0.title) }
      case .containerAndResolver:
        .in(Page.self) { page, resolver in Product(text: page.title + (try resolver.resolve())) }
      case .autowired: .autowire(Product.init(text:)).in(Page.self)
      case .instance: .instance(Product(text: "instance")).in(Page.self)
      case .onMainActor: .onMainActor(in: Page.self) { Product(text: type(of: $0).title) }
      case .onMainActorWithResolver:
        .onMainActor(in: Page.self) { page, resolver in Product(text: page.title + (try resolver.resolve())) }
      case .autowiredOnMainActor:
        .autowireOnMainActor { @MainActor (text: String) in Product(text: Page.title + text) }.in(Page.self)
      }
    }

    var text: String {
      switch self {
      case .container, .onMainActor: "page"
      case .containerAndResolver, .onMainActorWithResolver, .autowiredOnMainActor: "pageneeded"
      case .autowired: "needed"
      case .instance: "instance"
      }
    }
  }

  @Test("for one class serves that class alone", arguments: ClassForm.allCases, [Place.type, .key])
  @MainActor func container(form: ClassForm, place: Place) throws {
    let (registry, key) = place.registry(with: form.initializer, line: #line)
    guard let key else {
      #expect(try registry.resolve(Product.self, in: Page()).text == form.text)
      let error = #expect(throws: InjectionError.self) { try registry.resolve(Product.self, in: OtherPage()) }
      #expect(error?.code == .notRegistered)
      return
    }
    #expect(try registry.resolve(key, in: Page()).text == form.text)
    let error = #expect(throws: InjectionError.self) { try registry.resolve(key, in: OtherPage()) }
    #expect(error?.underlying is Offline)
  }

  @Test("keeps separate values in each registration")
  func apart() throws {
    let (first, second) = (InitializerRegistry(), InitializerRegistry())
    let initializer: Initializer<Thing> = .init { Thing("shared") }
    let rooms: Initializer<ArgumentFactory<Thing, Int>> = .factory(scope: .singleton) { Thing("\($1)") }
    for registry in [first, second] {
      registry.register(scope: .singleton, initializer)
      registry.register(rooms)
    }
    #expect(try first.resolve(Thing.self) === first.resolve(Thing.self))
    #expect(try first.resolve(Thing.self) !== second.resolve(Thing.self))
    #expect(try first.resolve(Thing.self, arguments: 1) === first.resolve(Thing.self, arguments: 1))
    #expect(try first.resolve(Thing.self, arguments: 1) !== second.resolve(Thing.self, arguments: 1))
  }

  @Test("of a key is overridden in part, from what the registry has now, and at the overriding line")
  func override() throws {
    let parent = InitializerRegistry(context: .test)
    let child = parent.child { _ in }
    try child.override(.pair) { $0.right = 7 }
    #expect(try child.resolve(.pair) == Pair(left: 10, right: 7))
    #expect(try parent.resolve(.pair) == Pair(left: 10, right: 20))
    parent.register(.pair) { Pair(left: 0, right: 0) }
    let line = #line + 1
    let change = try child.override(.pair) { $0.left += 1 }
    #expect(try child.resolve(.pair) == Pair(left: 11, right: 7))
    #expect(child.description.contains("InitializerFormsTests.swift:\(line)"))
    change.unregister()
    #expect(try child.resolve(.pair) == Pair(left: 0, right: 0))
    #expect(throws: CancellationError.self) {
      try child.override(.pair) { _ in throw CancellationError() }
    }
    #expect(try child.resolve(.pair) == Pair(left: 0, right: 0))
  }

  // MARK: Mistakes

  /// A use of an initializer's form that has no meaning, and a part of the message.
  enum Mistake: String, Codable, CaseIterable {
    case keyForOneClass = "a key's own initializer makes all of its values"
    case factoryWithScope = ".factory(scope: …)"
    case asyncForOneClass = "resolveAsync knows no container"
    case keyForSupertypes = "serves that key alone"
    case twoClasses = "Write an initializer for each class"

    func make() {
      switch self {
      case .keyForOneClass: _ = InjectionKey<Product>(.in(OtherPage.self) { _ in Product(text: "") })
      case .factoryWithScope:
        InitializerRegistry().register(scope: .singleton, .factory { (_, number: Int) in Thing("\(number)") })
      case .asyncForOneClass: InitializerRegistry().register(.async { Product(text: "") }.in(OtherPage.self))
      case .keyForSupertypes: _ = InjectionKey(.instance(Product(text: ""), as: .anySupertype))
      case .twoClasses: _ = Initializer<Product>.in(OtherPage.self) { _ in Product(text: "") }.in(Thing.self)
      }
    }
  }

  @Test(
    "that can't serve what it is registered for stops the program, and the message says why",
    arguments: Mistake.allCases)
  func stops(mistake: Mistake) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [mistake = mistake as Mistake] in mistake.make()
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains(mistake.rawValue))
  }
}
