import SpellRegistry
import Synchronization
import TestSupport
import Testing

private final class Session: Sendable {
  let number: Int
  init(_ number: Int = 0) { self.number = number }
}
private final class Client: Sendable {
  let session: Session
  init(session: Session) { self.session = session }
}
private struct Pair: Sendable {
  let first: Session
  let second: Session
}
private final class App: Sendable {
  let client: Client
  let session: Session
  init(client: Client, session: Session) { (self.client, self.session) = (client, session) }
}
private struct Left: Sendable { let client: Client }
private struct Right: Sendable { let client: Client }
private struct Both: Sendable {
  let left: Left
  let right: Right
}
@MainActor private final class Screen {
  let session: Session
  init(session: Session) { self.session = session }
}

@Suite("resolveAsync of what is autowired", .timeLimit(.hang)) struct AsyncAutowireTests {
  let registry = InitializerRegistry()
  private let made = Counter()

  private func error<Value: Sendable>(resolving type: Value.Type) async -> InjectionError? {
    do throws(InjectionError) {
      _ = try await registry.resolveAsync(type)
      return nil
    } catch { return error }
  }

  private func registerSession(_ scope: Scope<Session>) {
    registry.register(
      scope: scope,
      .async { [made] in
        await Task.yield()
        return Session(made.increment())
      })
  }

  @Test("awaits what it needs, whatever its scope", arguments: [0, 1, 2, 3, 4])
  func awaits(_ number: Int) async throws {
    registerSession([.singleton, .unique, .graph, .weak, .cached(in: ScopeCache("cache"))][number])
    registry.register(.autowire(Client.init))
    #expect(try await registry.resolveAsync(Client.self).session.number == 1)
    #expect(made.value == 1)
  }

  @Test("gets values of its own for parameters of scope unique, and one of its own for all of scope graph")
  func several() async throws {
    registerSession(.unique)
    registry.register(.autowire(Pair.init))
    registry.register(.autowire(Client.init))
    registry.register(.autowire(App.init))
    let pair = try await registry.resolveAsync(Pair.self)
    #expect(pair.first !== pair.second && made.value == 2)
    let app = try await registry.resolveAsync(App.self)
    #expect(app.session !== app.client.session && made.value == 4)
    registerSession(.graph)
    let shared = try await registry.resolveAsync(App.self)
    #expect(shared.session === shared.client.session && made.value == 5)
  }

  @Test("awaits what a kept value needs once, for many tasks")
  func once() async throws {
    let (registry, made) = (registry, made)
    registerSession(.singleton)
    registry.register(scope: .singleton, .autowire(Client.init))
    registry.register(scope: .singleton, .autowire(App.init))
    let apps = try await withThrowingTaskGroup(of: App.self) { group in
      for _ in 0..<50 { group.addTask { try await registry.resolveAsync(App.self) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(apps.allSatisfy { $0 === apps[0] && $0.session === $0.client.session })
    #expect(made.value == 1)
  }

  @Test("awaits once what a value that several others share needs", arguments: [0, 1])
  func sharedByOthers(_ number: Int) async throws {
    registerSession(.unique)
    registry.register(scope: [.singleton, .graph][number], .autowire(Client.init))
    registry.register(Left.self, .autowire(Left.init))
    registry.register(Right.self, .autowire(Right.init))
    registry.register(.autowire(Both.init))
    let both = try await registry.resolveAsync(Both.self)
    #expect(both.left.client === both.right.client && made.value == 1)
    registry.register(
      Both.self,
      .async {
        Both(left: try await $0.resolveAsync(), right: try await $0.resolveAsync())
      })
    _ = try await registry.resolveAsync(Both.self)
    #expect(made.value == (number == 0 ? 1 : 2))
  }

  @Test("awaits a registration that is async since the search")
  func becameAsync() async throws {
    let (registry, made) = (registry, made)
    registry.register(
      scope: .singleton,
      .async {
        registry.register(Client.self, .async { Client(session: Session(made.increment())) })
        return Session()
      })
    registry.register(.autowire(Client.init))
    #expect(try await registry.resolveAsync(Client.self).session.number == 1)
  }

  @Test("awaits for an initializer of the main actor, and for an async one")
  func others() async throws {
    registerSession(.unique)
    registry.register(.autowireOnMainActor(Screen.init))
    #expect(try await registry.resolveAsync(Screen.self).session.number == 1)
    registry.register(.autowire(Client.init))
    registry.register(scope: .singleton, .async { "\(try await $0.resolveAsync(Client.self).session.number)" })
    #expect(try await registry.resolveAsync(String.self) == "2")
  }

  @Test("gives what it awaited even if that was dropped since, and keeps nothing of it")
  func droppedMeanwhile() async throws {
    let cache = ScopeCache("cache")
    registerSession(.cached(in: cache))
    registry.register(Int.self) {
      cache.reset()
      return 1
    }
    registry.register(.autowire { (_: Int, session: Session) in Client(session: session) })
    var client: Client? = try await registry.resolveAsync()
    weak let session = client?.session
    #expect(session?.number == 1)
    client = nil
    #expect(session == nil)
    #expect(throws: InjectionError.self) { try registry.resolve(Session.self) }
  }

  @Test("awaits what a decoration wraps")
  func decoration() async throws {
    registerSession(.unique)
    registry.decorate(Session.self) { Session($0.number + 10) }
    registry.decorate(Session.self) { Session($0.number + 100) }
    #expect(try await registry.resolveAsync(Session.self).number == 111)
    registry.register(.autowire(Client.init))
    #expect(try await registry.resolveAsync(Client.self).session.number == 112)
    #expect(registry.error(resolving: Session.self)?.code == .notReady)
    registerSession(.singleton)
    let decoration = registry.decorate(Session.self) { Session($0.number + 10) }
    let kept = try await registry.resolveAsync(Session.self)
    #expect(kept.number == 13)
    #expect(try registry.resolve(Session.self) === kept)
    decoration.unregister()
    #expect(try registry.resolve(Session.self).number == 3)
  }

  @Test("awaits what a child's decoration wraps for the name in the request")
  func namedDecoration() async throws {
    registerSession(.unique)
    registry.register(named: "backup", .async { Session(7) })
    let child = InitializerRegistry(parent: registry)
    child.decorate(Session.self) { Session($0.number + 10) }
    child.decorate(Session.self) { Session($0.number + 100) }
    #expect(try await child.resolveAsync(Session.self, named: "backup").number == 117)
    #expect(made.value == 0)
  }

  @Test("throws what it needs throws, with the path, and tries again")
  func throwing() async throws {
    let tries = Counter()
    registry.register(
      scope: .singleton,
      .async {
        if tries.increment() == 1 { throw Offline() }
        return Session()
      })
    registry.register(.autowire(Client.init))
    registry.register(.autowire(App.init))
    let error = await error(resolving: App.self)
    #expect(error?.code == .initializerFailed && error?.underlying is Offline)
    #expect(error?.path == ["App", "Client", "Session"])
    _ = try await registry.resolveAsync(App.self)
  }

  @Test("throws for a missing need as resolve does")
  func missing() async throws {
    registry.register(.autowire(App.init))
    registry.register(.autowire(Client.init))
    let error = await error(resolving: App.self)
    #expect(error?.code == .notRegistered)
    #expect(error?.path == ["App", "Client", "Session"])
    #expect(error?.description == registry.error(resolving: App.self)?.description)
  }

  @Test("throws a cycle through an async initializer, with its path", arguments: [0, 1])
  func cycle(_ number: Int) async throws {
    registry.register(
      scope: [.singleton, .unique][number], .async { Session(try await $0.resolveAsync(Client.self).session.number) })
    registry.register(.autowire(Client.init))
    for type in 0...1 {
      let error = type == 0 ? await error(resolving: Client.self) : await error(resolving: Session.self)
      #expect(error?.code == .cycle)
      #expect(error?.path == (type == 0 ? ["Client", "Session", "Client"] : ["Session", "Client", "Session"]))
    }
  }

  @Test("throws a cycle of autowired initializers")
  func autowiredCycle() async throws {
    registry.register(Session.self, .autowire { (client: Client) in client.session })
    registry.register(.autowire(Client.init))
    let error = await error(resolving: Client.self)
    #expect(error?.code == .cycle)
  }

  @Test("lets each hook hear of each injection once")
  func hooks() async throws {
    let heard = Counter()
    registry.register(scope: .singleton, .async { Session() }).onInjection { _, _ in heard.increment() }
    registry.register(.autowire(Client.init))
    _ = try await registry.resolveAsync(Client.self)
    #expect(heard.value == 1)
  }

  @Test("gets its needs from the registry that keeps it")
  func child() async throws {
    registerSession(.singleton)
    registry.register(scope: .singleton, .autowire(Client.init))
    registry.register(.autowire(Pair.init))
    let child = registry.child { $0.register(.instance(Session(99))) }
    #expect(try await child.resolveAsync(Client.self).session.number == 1)
    #expect(try await child.resolveAsync(Pair.self).first.number == 99)
    let other = registry.child { $0.register(.async { Session(77) }) }
    #expect(try await other.resolveAsync(Pair.self).second.number == 77)
  }

  @Test("ends when its task is canceled")
  func cancellation() async throws {
    let registry = registry
    let (began, mayEnd) = (AsyncLatch(), AsyncLatch())
    registry.register(
      scope: .singleton,
      .async {
        began.open()
        await mayEnd.wait()
        return Session()
      })
    registry.register(.autowire(Client.init))
    let task = Task { try await registry.resolveAsync(Client.self) }
    await began.wait()
    task.cancel()
    await #expect(throws: InjectionError.self) { _ = try await task.value }
    mayEnd.open()
  }
}
