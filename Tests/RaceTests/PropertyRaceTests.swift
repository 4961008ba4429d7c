import FinalSpell
import InjectedSpell
import LazySpell
import PartialSpell
import Testing

/// An object that threads share: they read its properties, of which the first read makes the value.
///
/// `@unchecked Sendable`: any thread may read these properties, and assign the `@Final` ones.
private final class Page: @unchecked Sendable {
  @Lazy var lazyText = String(number: 0)
  @Lazy var lazyList = [String](number: 0)
  @Lazy var lazyBox = Box(number: 0)
  @Final var finalText: String
  @Final var finalList = [String](number: 0)
  @Final var finalBox: Box
  @Partial var partialList: [String]
  @Partial var partialBox: Box
  @Injected var text: String
  @Injected var list: [String]
  @Injected var box: Box
  @Injected(.everyRead) var everyText: String
  @Injected(.everyRead) var everyList: [String]
  @Injected(.everyRead) var everyBox: Box
  @Injected(.weak) var weakBox: Box?
  @Injected(.pageList) var key
}

extension InjectionKeys {
  fileprivate static let pageList = InjectionKey { [String](number: 0) }
}

private struct SampleLoader: PartialLoader {
  func load<Value>(_ type: Value.Type, named resource: String) throws -> Value {
    guard let type = type as? any Sample.Type, let value = type.init(number: 0) as? Value else {
      throw PartialError(.notFound, of: Value.self, resource: resource)
    }
    return value
  }
}

private func makeRegistry() -> InitializerRegistry {
  let registry = InitializerRegistry()
  registerSamples(0, in: registry)
  return registry
}

private func registerSamples(_ number: Int, in registry: InitializerRegistry) {
  registry.register(String.self) { String(number: number) }
  registry.register([String].self, scope: .singleton) { [String](number: number) }
  registry.register(Box.self, scope: .weak) { Box(number: number) }
  registry.register(.pageList, scope: .singleton) { [String](number: number) }
}

/// Returns the races of first reads, in objects that are replaced.
private var racesOfFirstReads: [Race] {
  let registry = makeRegistry()
  let pages = Current(registry.run { Page() })
  let loading = InitializerRegistry()
  loading.register((any PartialLoader).self) { SampleLoader() }
  let menus = Current(loading.run { Page() })
  @Sendable func newPage(_: Int) { pages.replace(with: registry.run { Page() }) }
  return [
    Race("@Lazy String", read: { pages.value.lazyText.isSound }, change: newPage),
    Race("@Lazy array", read: { pages.value.lazyList.isSound }, change: newPage),
    Race("@Lazy object", read: { pages.value.lazyBox.isSound }, change: newPage),
    Race("@Injected String", read: { pages.value.text.isSound }, change: newPage),
    Race("@Injected array", read: { pages.value.list.isSound }, change: newPage),
    Race("@Injected object", read: { pages.value.box.isSound }, change: newPage),
    Race("@Injected(.weak) object", read: { pages.value.weakBox?.isSound ?? true }, change: newPage),
    Race("@Final String", read: { pages.value.$finalText.value?.isSound ?? true }) { number in
      let page = registry.run { Page() }
      pages.replace(with: page)
      page.finalText = String(number: number)
    },
    Race("@Final array", read: { pages.value.finalList.isSound }, change: newPage),
    Race("@Final object", read: { pages.value.$finalBox.value?.isSound ?? true }) { number in
      let page = registry.run { Page() }
      pages.replace(with: page)
      page.finalBox = Box(number: number)
    },
    Race("@Partial array", read: { menus.value.partialList.isSound }) { _ in
      menus.replace(with: loading.run { Page() })
    },
    Race("@Partial object", read: { menus.value.partialBox.isSound }) { _ in
      menus.replace(with: loading.run { Page() })
    },
  ]
}

/// Returns the races of the properties of one object, with registrations that are replaced and injected again.
private var racesOfInjections: [Race] {
  let registry = makeRegistry()
  let page = registry.run { Page() }
  func reinject<Value: Sample & Sendable>(_: Value.Type, _ scope: Scope<Value>) -> @Sendable (Int) -> Void {
    { number in
      registry.register(Value.self, scope: scope) { Value(number: number) }
      registry.reinject(Value.self)
    }
  }
  return [
    Race("@Injected String", read: { page.text.isSound }, change: reinject(String.self, .unique)),
    Race("@Injected array", read: { page.list.isSound }, change: reinject([String].self, .singleton)),
    Race("@Injected object", read: { page.box.isSound }, change: reinject(Box.self, .weak)),
    Race("@Injected key", read: { page.key.isSound }) { number in
      registry.register(.pageList, scope: .singleton) { [String](number: number) }
      registry.reinject(.pageList)
    },
    Race("@Injected(.everyRead) String", read: { page.everyText.isSound }, change: reinject(String.self, .singleton)),
    Race(
      "@Injected(.everyRead) array", read: { page.everyList.isSound }, change: reinject([String].self, .singleton)),
    Race("@Injected(.everyRead) object", read: { page.everyBox.isSound }, change: reinject(Box.self, .weak)),
    Race("@Injected(.weak) object", read: { page.weakBox?.isSound ?? true }, change: reinject(Box.self, .weak)),
  ]
}

/// Returns the races of constants that are reset.
private var racesOfResets: [Race] {
  let registry = makeRegistry()
  registry.register((any PartialLoader).self) { SampleLoader() }
  let lazy = (
    LazyConstant { String(number: 0) }, LazyConstant { [String](number: 0) }, LazyConstant { Box(number: 0) }
  )
  let injected = registry.run { (Injected<String>(), Injected<[String]>(), Injected<Box>(), Injected<Box?>(.weak)) }
  let partial = registry.run { (Partial<[String]>(), Partial<Box>()) }
  return [
    Race("constant of a lazy String", read: { lazy.0.value.isSound }, change: { _ in lazy.0.reset() }),
    Race("constant of a lazy array", read: { lazy.1.value.isSound }, change: { _ in lazy.1.reset() }),
    Race("constant of a lazy object", read: { lazy.2.value.isSound }, change: { _ in lazy.2.reset() }),
    Race("constant of an injected String", read: { injected.0.value.isSound }, change: { _ in injected.0.reset() }),
    Race("constant of an injected array", read: { injected.1.value.isSound }, change: { _ in injected.1.reset() }),
    Race("constant of an injected object", read: { injected.2.value.isSound }, change: { _ in injected.2.reset() }),
    Race(
      "constant of a weak object", read: { injected.3.value?.isSound ?? true }, change: { _ in injected.3.reset() }),
    Race("constant of a partial array", read: { partial.0.value.isSound }, change: { _ in partial.0.reset() }),
    Race("constant of a partial object", read: { partial.1.value.isSound }, change: { _ in partial.1.reset() }),
  ]
}

@Suite("Races of properties", .serialized) struct PropertyRaceTests {
  @Test("a property of an object that another thread replaces is read whole", arguments: racesOfFirstReads)
  func firstReads(_ race: Race) async { await race.run(changes: 500) }

  @Test("a property whose registration is replaced and injected again is read whole", arguments: racesOfInjections)
  func injections(_ race: Race) async { await race.run(changes: 500) }

  @Test("a constant that another thread resets is read whole", arguments: racesOfResets)
  func resets(_ race: Race) async { await race.run(changes: 500) }
}
