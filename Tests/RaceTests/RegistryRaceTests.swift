import SpellRegistry
import Testing

extension InjectionKeys {
  fileprivate static let lines = InjectionKey { [String](number: 0) }
}

/// Returns whether a value is sound; also true for an error, which says that nothing is registered at the moment.
private func isSound<Value: Sample>(_ resolve: () throws -> Value) -> Bool {
  do { return try resolve().isSound } catch { return (error as? InjectionError)?.code == .notRegistered }
}

/// Returns the races of values that one scope keeps, with changes of their registrations.
private func races(
  of scope: String, _ text: Scope<String>, _ list: Scope<[String]>, _ box: Scope<Box>,
  reset: @escaping @Sendable () -> Void = {}
) -> [Race] {
  let registry = InitializerRegistry()
  let child = registry.child { _ in }
  /// Registers a value that the number tells from all others, or withdraws it, or removes everything.
  func change<Value: Sample & Sendable>(_ scope: Scope<Value>) -> @Sendable (Int) -> Void {
    { number in
      reset()
      let registration = registry.register(Value.self, scope: scope) { Value(number: number) }
      if number.isMultiple(of: 5) { registration.unregister() }
      if number.isMultiple(of: 7) { registry.removeAll() }
    }
  }
  return [
    Race("\(scope) String", read: { isSound { try registry.resolve(String.self) } }, change: change(text)),
    Race("\(scope) array", read: { isSound { try registry.resolve([String].self) } }, change: change(list)),
    Race("\(scope) object", read: { isSound { try registry.resolve(Box.self) } }, change: change(box)),
    Race(
      "\(scope) array through a child", read: { isSound { try child.resolve([String].self) } }, change: change(list)),
  ]
}

private var racesOfKeptValues: [Race] {
  let cache = ScopeCache("races")
  return races(of: "singleton", .singleton, .singleton, .singleton)
    + races(of: "cached", .cached(in: cache), .cached(in: cache), .cached(in: cache)) { cache.reset() }
    + races(
      of: "expiring", .singleton.expiring(after: .microseconds(50)), .singleton.expiring(after: .microseconds(50)),
      .singleton.expiring(after: .microseconds(50)))
}

private var otherRaces: [Race] {
  let registry = InitializerRegistry()
  registry.register(Box.self, scope: .weak) { Box(number: 0) }
  let factories = InitializerRegistry()
  @Sendable func registerFactory(_ number: Int) {
    factories.register(.factory(scope: .singleton) { (_, argument: Int) in [String](number: argument + number) })
  }
  registerFactory(0)
  let factory = Current(try? factories.resolve(ArgumentFactory<[String], Int>.self))
  return [
    Race("weak object", read: { isSound { try registry.resolve(Box.self) } }) { number in
      if number.isMultiple(of: 9) { registry.register(Box.self, scope: .weak) { Box(number: number) } }
    },
    Race("all objects", read: { ((try? registry.resolveAll(Box.self)) ?? []).allSatisfy { $0.isSound } }) { number in
      registry.register(Box.self, named: "second", scope: .singleton) { Box(number: number) }
    },
    Race("declared key", read: { isSound { try registry.resolve(.lines) } }) { number in
      let registration = registry.register(.lines, scope: .singleton) { [String](number: number) }
      if number.isMultiple(of: 3) { registration.unregister() }
    },
    Race("array of a factory", read: { isSound { try factories.resolve([String].self, arguments: 7) } }) {
      registerFactory($0)
    },
    Race(
      "array of a factory that is held", read: { factory.value.map { factory in isSound { try factory(7) } } ?? false }
    ) { number in
      registerFactory(number)
      if let new = try? factories.resolve(ArgumentFactory<[String], Int>.self) { factory.replace(with: new) }
    },
    Race("current registry", read: { registry.run { InitializerRegistry.current === registry } }) { number in
      registry.child { $0.register(.instance(number)) }.run { registry.removeAll() }
      registry.register(Box.self, scope: .weak) { Box(number: number) }
    },
  ]
}

@Suite("Races of registries", .serialized) struct RegistryRaceTests {
  @Test(
    "a kept value whose registration is replaced, withdrawn or reset is resolved whole", arguments: racesOfKeptValues)
  func kept(_ race: Race) async { await race.run(changes: 500) }

  @Test("any other value whose registration changes is resolved whole", arguments: otherRaces)
  func others(_ race: Race) async { await race.run(changes: 500) }
}
