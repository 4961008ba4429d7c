import Darwin
import LaunchInitializers
import SpellRegistry

/// A value that a main-actor initializer creates.
@MainActor private final class Screen: Sendable {}

@MainActor private func resolvesScreen() throws -> Bool {
  let registry = InitializerRegistry()
  registry.register(.onMainActor { Screen() })
  _ = try registry.resolve(Screen.self)
  return true
}

@MainActor func checkOnMainThread() {
  do {
    let isMade = try resolvesScreen()
    note("a main-actor initializer runs on the main thread", isMade && pthread_main_np() == 1 ? nil : "it doesn't")
  } catch {
    note("a main-actor initializer runs on the main thread", "\(error)")
  }
}

@MainActor func checkSystemCalls() async {
  await check("the main actor isn't on the main thread after dispatchMain()") { pthread_main_np() == 0 }
  await check("a main-actor initializer runs after dispatchMain()") { try resolvesScreen() }
  await check("a main-actor initializer is refused on another thread") {
    await Task.detached {
      let registry = InitializerRegistry()
      registry.register(.onMainActor { Screen() })
      do throws(InjectionError) {
        _ = try registry.resolve(Screen.self)
        return false
      } catch {
        return error.code == .wrongIsolation
      }
    }.value
  }
  await check("a chain of initializers that would overflow the stack is an error") {
    let registry = InitializerRegistry()
    for index in 0..<50_000 {
      registry.register(Int.self, named: .equal(to: "\(index)")) { try $0.resolve(Int.self, named: "\(index + 1)") }
    }
    do throws(InjectionError) {
      _ = try registry.resolve(Int.self, named: "0")
      return false
    } catch {
      return error.code == .stackExhausted
    }
  }
  await check("a signal beyond the platform's is refused with a sentence") {
    let (status, message) = try runChild("signal")
    return status != 0 && message.contains("can't wait for signal 40")
  }
}

/// Runs the program's part as a child of itself.
func runAsChild(_ argument: String) async {
  do {
    let sequence = try LaunchSequence(configuration: NoConfiguration()) { Nothing() }
    _ = await sequence.run(on: [LaunchSignal(rawValue: 40)])
    exit(0)
  } catch {
    exit(2)
  }
}

private struct NoConfiguration: Configurable {
  var serviceStorage: ServiceStorage = [:]
  func currentStage() -> ReleaseStage { .test }
  static func defaultConfiguration() -> NoConfiguration { NoConfiguration() }
}

private struct Nothing: Initializable {
  func perform(with configuration: any Configurable) async throws {}
}
