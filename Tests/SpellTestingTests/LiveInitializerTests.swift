import InjectedSpell
import SpellTesting
import TestSupport
import Testing

private protocol Net: Sendable { var isLive: Bool { get } }
private struct WebNet: Net { let isLive = true }
private struct FakeNet: Net { let isLive = false }
private struct Wired: Sendable {
  let net: any Net
  init(net: any Net) { self.net = net }
}
private struct Line: Sendable { let number: Int }

extension InjectionKeys {
  fileprivate static let net = InjectionKey<any Net> { WebNet() }
  fileprivate static let tested = InjectionKey<any Net> { WebNet() }.test { FakeNet() }
  fileprivate static let suitable = InjectionKey<any Net>(scope: .singleton) { WebNet() }.liveInTests()
  fileprivate static let instance = InjectionKey<any Net>(.instance(WebNet()))
  fileprivate static let awaited = InjectionKey<any Net>(scope: .singleton, .async { WebNet() })
  fileprivate static let wired = InjectionKey { Wired(net: try $0.resolve(.net)) }
  fileprivate static let autowired = InjectionKey(.autowire(Wired.init))
  fileprivate static let wiredOnMainActor = InjectionKey(
    scope: .singleton, .onMainActor { Wired(net: try $0.resolve(.tested)) })
  fileprivate static let leafOnMainActor = InjectionKey(scope: .singleton, .onMainActor { Wired(net: WebNet()) })
  fileprivate static let wiredAsync = InjectionKey(
    scope: .singleton, .async { Wired(net: try await $0.resolveAsync(.tested)) })
  fileprivate static let oddPlace = InjectionKey<any Net>(fileID: "App/Odd: file.swift", line: 3) { WebNet() }
  fileprivate static let line = InjectionKey(.factory { (_, number: Int) in Line(number: number) })
}
private final class Client { @Injected(.net) var net }

/// Resolves every key above.
private func resolveAll(in registry: InitializerRegistry) async throws {
  _ = registry.run { Client().net }
  _ = try (registry.resolve(.tested), registry.resolve(.suitable), registry.resolve(.instance))
  _ = try await registry.resolveAsync(.awaited)
  _ = try registry.resolve(.line)(1)
}

@Suite("A key's live initializer in a test", .timeLimit(.hang)) struct LiveInitializerTests {
  @Test("is reported on standard error, once for each key that says nothing of tests")
  func isReported() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        for _ in 1...3 {
          let registry = InitializerRegistry(context: .test)
          registry.register((any Net).self) { FakeNet() }
          try await resolveAll(in: registry)
        }
      })
    let message = text(result.standardErrorContent)
    #expect(message.ranges(of: "has no initializer for tests").count == 4)
    #expect(message.ranges(of: "Add `.test { … }` to the key's declaration, or `.liveInTests()`").count == 4)
    #expect(message.ranges(of: "declared at SpellTestingTests/LiveInitializerTests.swift:").count == 4)
    #expect(message.contains("makes its value for Client.net."))
    #expect(message.ranges(of: "What is registered for the type, at SpellTestingTests/").count == 3)
  }

  @Test("isn't reported for a key that only wires others, but is for these others", .registry(.strict))
  func wiring() async throws {
    let registry = InitializerRegistry.current
    registry.register((any Net).self) { FakeNet() }
    let silent = try await issues {
      _ = try registry.resolve(.autowired)
      _ = try await (registry.resolveAsync(.wiredAsync), registry.resolveAsync(.wiredOnMainActor))
    }
    #expect(silent.isEmpty)
    let ofNet = try await issues { _ = try registry.resolve(.wired) }
    #expect(ofNet.count == 1)
    #expect(ofNet.first?.text.contains("The key of type any Net") == true)
    #expect(try await issues { _ = try await registry.resolveAsync(.leafOnMainActor) }.count == 1)
  }

  @Test("isn't reported in a registry of another context, or if something is registered for the key")
  func isntReported() async throws {
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
        for context in [InjectionContext.live, .preview] {
          try await resolveAll(in: InitializerRegistry(context: context))
        }
        let registry = InitializerRegistry(context: .test)
        registry.register(.net) { FakeNet() }
        _ = try registry.resolve(.net)
      })
    #expect(result.standardErrorContent.isEmpty)
  }

  @Test("is an issue for a strict test, once for each key that says nothing of tests", .registry(.strict))
  func strict() async throws {
    let found = try await issues {
      for _ in 1...3 { try await resolveAll(in: .current) }
    }
    #expect(found.count == 4)
    #expect(found.allSatisfy { $0.text.contains("or `.liveInTests()` if its own value suits tests") })
  }

  @Test("is an issue at the key's place, also in a file whose name has a colon", .registry(.strict))
  func place() async throws {
    let found = try await issues { _ = try InitializerRegistry.current.resolve(.oddPlace) }
    #expect(found.map(\.location.fileID) == ["App/Odd: file.swift"])
    #expect(found.map(\.location.line) == [3])
  }

  @Test("makes the value for tests of a key that says that it suits them", .registry)
  func suits() throws {
    let registry = InitializerRegistry.current
    #expect(try registry.resolve(.suitable).isLive)
    registry.register(.suitable) { FakeNet() }
    #expect(try !registry.resolve(.suitable).isLive)
  }
}
