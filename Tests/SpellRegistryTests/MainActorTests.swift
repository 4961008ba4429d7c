import Foundation
import SpellRegistry
import TestSupport
import Testing

@MainActor private final class Screen {
  let title: String
  init(title: String) { self.title = title }
}

private final class Window: Sendable {}

@Suite("Main-actor initializers", .timeLimit(.hang)) struct MainActorTests {
  let registry = InitializerRegistry()

  @Test("on the main actor the initializer runs at once")
  @MainActor func onMainActor() throws {
    registry.register(Screen.self, scope: .singleton, .onMainActor { _ in Screen(title: "main") })
    #expect(try registry.resolve(Screen.self).title == "main")
    #expect(try registry.resolve(Screen.self) === registry.resolve(Screen.self))
  }

  @Test("anywhere else it is an error that says so, and leaves no trace")
  func elsewhere() async throws {
    let registry = registry
    registry.register(Screen.self, scope: .singleton, .onMainActor { _ in Screen(title: "main") })
    let error = await onThread { registry.error(resolving: Screen.self) }
    #expect(error?.code == .wrongIsolation)
    #expect(error?.path == ["Screen"])
    #expect(
      error?.description.hasPrefix(
        "The value of Screen belongs to the main actor, and was asked for from elsewhere.") == true)
    let fromTask = await Task.detached { registry.error(resolving: Screen.self) }.value
    #expect(fromTask?.code == .wrongIsolation)
    let title = try await MainActor.run { try registry.resolve(Screen.self).title }
    #expect(title == "main")
  }

  @Test("once it is made, a shared value is there for every thread")
  func shared() async throws {
    let registry = registry
    registry.register(Screen.self, scope: .singleton, .onMainActor { _ in Screen(title: "main") })
    let screen = try await MainActor.run { try registry.resolve(Screen.self) }
    #expect(await onThread { try? registry.resolve(Screen.self) } === screen)
  }

  @Test("awaited, it is made on the main actor, wherever that is asked from")
  func awaited() async throws {
    registry.register(Screen.self, .onMainActor { _ in Screen(title: "\(MainActor.assumeIsolated { true })") })
    let screen = try await registry.resolveAsync(Screen.self)
    #expect(screen.title == "true")
  }

  @Test("a request for one that is cancelled returns while the main actor is busy")
  func cancelled() async {
    registry.register(Screen.self, scope: .singleton, .onMainActor { _ in Screen(title: "main") })
    let (registry, hasEnded) = (registry, Latch())
    let task = await MainActor.run {
      let task = Task.detached {
        defer { hasEnded.open() }
        return await error(awaiting: Screen.self, of: registry)?.code
      }
      task.cancel()
      hasEnded.wait()
      return task
    }
    #expect(await task.value == .cancelled)
  }

  @Test("another thread gets the error at once while the main actor makes a shared value")
  @MainActor func whileBeingMade() throws {
    let (registry, found) = (registry, Journal())
    registry.register(
      Screen.self, scope: .singleton,
      .onMainActor { _ in
        let isDone = Latch()
        Thread.detachNewThread {
          found.note(registry.error(resolving: Screen.self)?.code.description ?? "a value")
          isDone.open()
        }
        isDone.wait()
        return Screen(title: "main")
      })
    _ = try registry.resolve(Screen.self)
    #expect(found.entries == ["wrongIsolation"])
  }

  @Test("the advice for a registration for one class doesn't name resolveAsync, which knows no class")
  func adviceForClass() async {
    registry.register(Screen.self, .onMainActor(in: Window.self) { _ in Screen(title: "main") })
    let (registry, window) = (registry, Window())
    let advice = await onThread { registry.error { try registry.resolve(Screen.self, in: window) }?.description }
    #expect(advice?.contains("MainActor.run { try registry.resolve(Screen.self, in: …) }") == true)
    #expect(advice?.contains("resolveAsync") == false)
  }

  @Test("its dependencies are resolved on the main actor, too")
  @MainActor func dependencies() throws {
    registry.register(String.self, .onMainActor { _ in "title" })
    registry.register(Screen.self, .onMainActor { Screen(title: try $0.resolve()) })
    #expect(try registry.resolve(Screen.self).title == "title")
  }

  @Test("an initializer elsewhere that needs one gets the error with its own step in the path")
  func path() async {
    let registry = registry
    registry.register(Screen.self, .onMainActor { _ in Screen(title: "main") })
    registry.register([Screen].self) { [try $0.resolve()] }
    let error = await onThread { registry.error(resolving: [Screen].self) }
    #expect(error?.description.contains("or await it: try await registry.resolveAsync(Array<Screen>.self).") == true)
    #expect(error?.code == .wrongIsolation)
    #expect(error?.path == ["Array<Screen>", "Screen"])
  }

  private final class Page { @Spell var label: String }
  @MainActor private final class Panel { @Spell var label: String }

  @Test("an initializer and a hook of the main actor get no container, which might be another's to use")
  @MainActor func containers() {
    let heard = Shared<[String]>([])
    registry.register(
      String.self,
      .onMainActor { resolver in
        "\(resolver.point.propertyName ?? "-"), \(resolver.point.container == nil)"
      }
    ).onInjectionOnMainActor { label, point in heard.update { $0.append("\(label), \(point.container == nil)") } }
    #expect(registry.run { Page() }.label == "label, true")
    #expect(heard.value == ["label, true, true"])
  }

  @Test("an initializer for a container that may be used from anywhere gets it")
  @MainActor func typedContainer() {
    registry.register(String.self, .onMainActor(in: Panel.self) { panel in "\(type(of: panel))" })
    #expect(registry.run { Panel() }.label == "Panel")
  }

  @Test("an instance isn't served as a protocol to which it conforms on the main actor only")
  @MainActor func isolatedConformance() throws {
    registry.register(.instance(Greeter(), as: .anySupertype))
    #expect(registry.error(resolving: (any Greeting).self)?.code == .notRegistered)
    #expect(try registry.resolve((any AnyObject & Sendable).self) is Greeter)
  }

  @Test("the advice elsewhere is one that works: to await the key, or to hop for a value with arguments")
  func advice() async {
    let registry = registry
    registry.register(ArgumentFactory<Screen, String>.self, .factoryOnMainActor { _, title in Screen(title: title) })
    let (key, arguments) = await onThread {
      (
        registry.error { try registry.resolve(.elsewhere) as Int },
        registry.error { try registry.resolve(Screen.self, arguments: "a").self }
      )
    }
    #expect(key?.description.contains("try await registry.resolveAsync(.key)") == true)
    #expect(
      arguments?.description.contains("try await MainActor.run { try registry.resolve(Screen.self, arguments: …) }")
        == true)
  }
}

private protocol Greeting { func greet() }
@MainActor private final class Greeter: @MainActor Greeting { func greet() {} }

extension InjectionKeys {
  fileprivate static let elsewhere = InjectionKey<Int>(.onMainActor { 1 })
}

extension InitializerRegistry {
  /// Returns the error that the body throws, or nil if it throws none.
  fileprivate func error<Value>(_ body: () throws -> Value) -> InjectionError? {
    do {
      _ = try body()
      return nil
    } catch { return error as? InjectionError }
  }
}
