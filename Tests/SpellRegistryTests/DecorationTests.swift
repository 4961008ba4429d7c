import SpellRegistry
import Synchronization
import TestSupport
import Testing

private protocol Store: Sendable { var text: String { get } }
private final class Real: Store {
  let text: String
  init(_ text: String = "real") { self.text = text }
}
private final class Logged: Store {
  let inner: any Store
  let name: String
  init(_ inner: any Store, _ name: String = "logged") { (self.inner, self.name) = (inner, name) }
  var text: String { "\(name)(\(inner.text))" }
}
private final class Page { init() {} }
/// A class that isn't `Sendable`.
private final class Draft {
  var text = "draft"
  init(_ text: String = "draft") { self.text = text }
}

extension InjectionKeys {
  fileprivate static let store = InjectionKey<any Store>(scope: .singleton) { Real("key") }
  fileprivate static let freshStore = InjectionKey<any Store> { Real("fresh") }
}

@Suite("A decoration", .timeLimit(.hang)) struct DecorationTests {
  let registry = InitializerRegistry()

  private func text(named name: String? = nil, in registry: InitializerRegistry? = nil) throws -> String {
    try (registry ?? self.registry).resolve((any Store).self, named: name).text
  }

  @Test("isn't lost when another thread decorates the same type")
  func twoThreads() async throws {
    for _ in 0..<repetitions(debug: 500, release: 10_000) {
      let registry = InitializerRegistry()
      registry.register((any Store).self) { Real() }
      await onThreads(
        { registry.decorate((any Store).self) { Logged($0, "one") } },
        { registry.decorate((any Store).self) { Logged($0, "two") } })
      #expect(["one(two(real))", "two(one(real))"].contains(try registry.resolve((any Store).self).text))
    }
  }

  @Test("wraps what is registered, and several wrap each other in order")
  func wraps() throws {
    registry.register((any Store).self) { Real() }
    registry.decorate((any Store).self) { Logged($0) }
    #expect(try text() == "logged(real)")
    registry.decorate((any Store).self) { inner, _ in Logged(inner, "cached") }
    #expect(try text() == "cached(logged(real))")
    #expect(try registry.resolve((any Store)?.self)?.text == "cached(logged(real))")
    #expect(try registry.resolveAll((any Store).self).map(\.text) == ["cached(logged(real))"])
  }

  @Test("asks its resolver, whose errors have the path")
  func resolver() throws {
    registry.register((any Store).self) { Real() }
    registry.decorate((any Store).self) { inner, resolver in Logged(inner, try resolver.resolve()) }
    let error = registry.error(resolving: (any Store).self)
    #expect(error?.code == .notRegistered)
    #expect(error?.path == ["any Store", "String"])
    registry.register { "titled" }
    #expect(try text() == "titled(real)")
  }

  @Test("has the scope of what it wraps", arguments: [0, 1, 2, 3])
  func scope(_ number: Int) throws {
    let cache = ScopeCache("cache")
    let scope: Scope<any Store> = [.unique, .graph, .singleton, .cached(in: cache)][number]
    let (made, wrapped) = (Counter(), Counter())
    registry.register((any Store).self, scope: scope) {
      made.increment()
      return Real()
    }
    registry.decorate((any Store).self) {
      wrapped.increment()
      return Logged($0)
    }
    registry.register {
      let stores: [any Store] = [try $0.resolve(), try $0.resolve()]
      return stores
    }
    let stores = try registry.resolve([any Store].self)
    #expect(stores.allSatisfy { $0.text == "logged(real)" })
    _ = try text()
    #expect(made.value == [3, 2, 1, 1][number])
    #expect(wrapped.value == made.value)
    cache.reset()
    _ = try text()
    #expect(wrapped.value == [4, 3, 1, 2][number])
    #expect(made.value == wrapped.value)
  }

  @Test("of a value that only others keep alive keeps nothing itself")
  func weakScope() throws {
    let wrapped = Counter()
    registry.register(Real.self, scope: .weak) { Real() }
    registry.decorate(Real.self) {
      wrapped.increment()
      return Real($0.text + "!")
    }
    do {
      let real = try registry.resolve(Real.self)
      #expect(try registry.resolve(Real.self) === real)
      #expect(real.text == "real!")
    }
    _ = try registry.resolve(Real.self)
    #expect(wrapped.value == 2)
  }

  @Test("of an instance wraps it once")
  func instance() throws {
    registry.register((any Store).self, .instance(Real("instance")))
    registry.decorate((any Store).self) { Logged($0) }
    let store = try registry.resolve((any Store).self)
    #expect(store.text == "logged(instance)")
    #expect(try registry.resolve((any Store).self) as AnyObject === store as AnyObject)
  }

  @Test("wraps an instance that serves its supertypes, for one of them")
  func supertype() throws {
    registry.register(.instance(Real("instance"), as: .anySupertype))
    registry.decorate((any Store).self) { Logged($0) }
    #expect(try text() == "logged(instance)")
    #expect(try registry.resolve(Real.self).text == "instance")
  }

  @Test("wraps a value that isn't Sendable")
  func nonSendable() throws {
    registry.register { Draft() }
    registry.decorate(Draft.self) { draft in
      draft.text += "!"
      return draft
    }
    #expect(try registry.resolve(Draft.self).text == "draft!")
  }

  @Test("for a key wraps the key's own initializer, or what is registered for the key")
  func key() throws {
    registry.decorate(.store) { Logged($0) }
    let store = try registry.resolve(.store)
    #expect(store.text == "logged(key)")
    #expect(try registry.resolve(.store) as AnyObject === store as AnyObject)
    registry.decorate(.freshStore) { inner, _ in Logged(inner, "fresh") }
    #expect(try registry.resolve(.freshStore).text == "fresh(fresh)")
    let other = InitializerRegistry()
    other.register(.store) { Real("registered") }
    other.decorate(.store) { Logged($0) }
    #expect(try other.resolve(.store).text == "logged(registered)")
    #expect(try registry.resolve((any Store)?.self) == nil)
  }

  @Test("of a child wraps the parent's value, and the parent doesn't get it")
  func child() throws {
    let made = Counter()
    registry.register((any Store).self, scope: .singleton) { Real("real\(made.increment())") }
    let child = registry.child { $0.decorate((any Store).self) { Logged($0) } }
    let grandchild = child.child { $0.decorate((any Store).self) { Logged($0, "cached") } }
    #expect(try text(in: grandchild) == "cached(logged(real1))")
    #expect(try text(in: child) == "logged(real1)")
    #expect(try text() == "real1")
    #expect(try child.resolve((any Store).self) as AnyObject === child.resolve((any Store).self) as AnyObject)
    let keyed = registry.child { $0.decorate(.store) { Logged($0) } }
    #expect(try keyed.resolve(.store).text == "logged(key)")
    #expect(try registry.resolve(.store).text == "key")
  }

  @Test("is for the properties of a name if it has one")
  func name() throws {
    registry.register((any Store).self) { Real() }
    registry.register((any Store).self, named: "backup") { Real("backup") }
    registry.decorate((any Store).self, named: "backup") { Logged($0) }
    registry.decorate((any Store).self, named: "other") { Logged($0, "other") }
    #expect(try text() == "real")
    #expect(try text(named: "backup") == "logged(backup)")
    #expect(try text(named: "other") == "other(real)")
    registry.decorate((any Store).self) { Logged($0, "any") }
    #expect(try text(named: "backup") == "logged(backup)")
    #expect(try text() == "any(real)")
  }

  @Test("is taken away in any order, and what it hid keeps its value")
  func unregister() throws {
    let made = Counter()
    registry.register((any Store).self, scope: .singleton) { Real("real\(made.increment())") }
    let first = registry.decorate((any Store).self) { Logged($0, "first") }
    let second = registry.decorate((any Store).self) { Logged($0, "second") }
    #expect(try text() == "second(first(real1))")
    second.unregister()
    #expect(try text() == "first(real1)")
    let third = registry.decorate((any Store).self) { Logged($0, "third") }
    first.unregister()
    #expect(try text() == "third(real1)")
    third.unregister()
    third.unregister()
    #expect(try text() == "real1")
  }

  @Test("is replaced by what is registered afterwards")
  func replaced() throws {
    registry.register((any Store).self) { Real() }
    let decoration = registry.decorate((any Store).self) { Logged($0) }
    let later = registry.register((any Store).self) { Real("later") }
    #expect(try text() == "later")
    decoration.unregister()
    #expect(try text() == "later")
    later.unregister()
    #expect(try text() == "real")
  }

  @Test("of nothing is an error that says so")
  func nothing() throws {
    registry.decorate((any Store).self) { Logged($0) }
    let error = try #require(registry.error(resolving: (any Store).self))
    #expect(error.code == .notRegistered)
    #expect(error.path.first == "any Store")
    registry.removeAll()
    #expect(registry.error(resolving: (any Store).self)?.code == .notRegistered)
  }

  @Test("that throws is an error that is tried again")
  func throwing() throws {
    let tries = Counter()
    registry.register((any Store).self, scope: .singleton) { Real() }
    registry.decorate((any Store).self) {
      if tries.increment() == 1 { throw Offline() }
      return Logged($0)
    }
    let error = registry.error(resolving: (any Store).self)
    #expect(error?.code == .initializerFailed && error?.underlying is Offline)
    #expect(try text() == "logged(real)")
  }

  @Test("that asks for its own type is a cycle, and one that registers again is told of decorate")
  func cycle() throws {
    registry.register((any Store).self) { Real() }
    registry.decorate((any Store).self) { inner, resolver in Logged(try resolver.resolve()) }
    #expect(registry.error(resolving: (any Store).self)?.code == .cycle)
    let other = InitializerRegistry()
    other.register((any Store).self) { Real() }
    other.register((any Store).self) { Logged(try $0.resolve()) }
    let error = try #require(other.error(resolving: (any Store).self))
    #expect(error.code == .cycle)
    #expect(error.description.contains("registry.decorate((any Store).self) { inner in … }"))
  }

  @Test("is made once under a race, and a withdrawal in the race leaves one of the two values")
  func race() async throws {
    for _ in 0..<20 {
      let registry = InitializerRegistry()
      let (made, wrapped) = (Counter(), Counter())
      registry.register((any Store).self, scope: .singleton) {
        made.increment()
        return Real()
      }
      let decoration = registry.decorate((any Store).self) {
        wrapped.increment()
        return Logged($0)
      }
      let texts = await TestSupport.race(50) { number in
        if number == 25 { decoration.unregister() }
        return (try? registry.resolve((any Store).self).text) ?? "error"
      }
      #expect(Set(texts).isSubset(of: ["logged(real)", "real"]))
      #expect(made.value == 1 && wrapped.value <= 1)
    }
  }

  @Test("is shown with what it hides")
  func description() throws {
    registry.register((any Store).self, scope: .singleton) { Real() }
    registry.decorate((any Store).self) { Logged($0) }
    _ = try text()
    #expect("\(registry)".contains("any Store: singleton, kept, hidden, at"))
    #expect("\(registry)".contains("any Store: singleton, kept, at"))
  }

  @Test("is closed before what it wraps, and alone if it is taken away")
  func removal() throws {
    let heard = Mutex<[String]>([])
    registry.register((any Store).self, scope: .singleton) { Real() }
      .onRemoval { store in heard.withLock { $0.append(store.text) } }
    let decoration = registry.decorate((any Store).self) { Logged($0) }
      .onRemoval { store in heard.withLock { $0.append(store.text) } }
    _ = try text()
    decoration.unregister()
    #expect(heard.withLock { $0 } == ["logged(real)"])
    registry.decorate((any Store).self) { Logged($0, "again") }
      .onRemoval { store in heard.withLock { $0.append(store.text) } }
    _ = try text()
    registry.removeAll()
    #expect(heard.withLock { $0 } == ["logged(real)", "again(real)", "real"])
  }

  @Test("calls the hooks of what it wraps, and its own")
  func hooks() throws {
    let heard = Mutex<[String]>([])
    registry.register((any Store).self) { Real() }
      .onInjection { store, _ in heard.withLock { $0.append(store.text) } }
    registry.decorate((any Store).self) { Logged($0) }
      .onInjection { store, _ in heard.withLock { $0.append(store.text) } }
    _ = try text()
    #expect(heard.withLock { $0 } == ["real", "logged(real)"])
  }
}
