import Foundation
import PreferenceSpell
import Testing

/// The properties of an object; any thread may read and assign a preference.
private final class Settings: @unchecked Sendable {
  @Preference var text = String(number: 0)
  @Preference var list = [String](number: 0)
  @Preference var box = Box(number: 0)
  @Preference var page = Page(number: 0)
  @Preference(.list) var declared
  @Preference var optional: [String]?
}

extension PreferenceKeys {
  fileprivate static let list = PreferenceKey("declared", default: [String](number: 0))
}

private struct Page: Codable, Sendable {
  var lines: [String]
  init(number: Int) { lines = [String](number: number) }
}

private struct Options: Sendable {
  @Preference("text") var text = String(number: 0)
  @Preference("list") var list = [String](number: 0)
  @Preference("box") var box = Box(number: 0)
}

private struct Constants: Sendable {
  let text: Preference<String>
  let list: Preference<[String]>
  let box: Preference<Box>

  init(in store: (any PreferenceStore)?) {
    text = Preference("text", default: String(number: 0), store: store)
    list = Preference("list", default: [String](number: 0), store: store)
    box = Preference("box", default: Box(number: 0), store: store)
  }
}

/// Returns the races in a store.
private func races(in store: any PreferenceStore) -> [Race] {
  let registry = InitializerRegistry()
  registry.register((any PreferenceStore).self, .instance(store))
  let (settings, options) = registry.run { (Settings(), Options()) }
  let (constants, currents) = (Constants(in: store), Constants(in: nil))
  return [
    Race("a String", read: { settings.text.isSound }, change: { settings.text = String(number: $0) }),
    Race("an array", read: { settings.list.isSound }, change: { settings.list = [String](number: $0) }),
    Race("an object", read: { settings.box.isSound }, change: { settings.box = Box(number: $0) }),
    Race("an array and resets", read: { settings.list.isSound }) {
      if $0.isMultiple(of: 3) { settings.$list.reset() } else { settings.list = [String](number: $0) }
    },
    Race("an Optional", read: { settings.optional?.isSound ?? true }) {
      settings.optional = $0.isMultiple(of: 3) ? nil : [String](number: $0)
    },
    Race("a declared key", read: { settings.declared.isSound }, change: { settings.declared = [String](number: $0) }),
    Race("a projection", read: { settings.$list.value.isSound }) { settings.$list.value = [String](number: $0) },
    Race("a part", read: { settings.$page.lines.value.isSound }) {
      if $0.isMultiple(of: 2) {
        settings.page = Page(number: $0)
      } else {
        settings.$page.lines.value = [String](number: $0)
      }
    },
    Race("a String in a struct", read: { options.text.isSound }, change: { options.text = String(number: $0) }),
    Race("an array in a struct", read: { options.list.isSound }, change: { options.list = [String](number: $0) }),
    Race("an object in a struct", read: { options.box.isSound }, change: { options.box = Box(number: $0) }),
    Race("a constant String", read: { constants.text.value.isSound }) { constants.text.value = String(number: $0) },
    Race("a constant array", read: { constants.list.value.isSound }) { constants.list.value = [String](number: $0) },
    Race("a constant object", read: { constants.box.value.isSound }) { constants.box.value = Box(number: $0) },
    Race(
      "a constant array of the current registry",
      read: { registry.run { (0..<20).allSatisfy { _ in currents.list.value.isSound } } },
      change: { number in registry.run { currents.list.value = [String](number: number) } }),
    Race(
      "a constant object of the current registry",
      read: { registry.run { (0..<20).allSatisfy { _ in currents.box.value.isSound } } },
      change: { number in registry.run { currents.box.value = Box(number: number) } }),
  ]
}

/// Returns the races of a constant whose registries are replaced, with their stores.
private var racesOfRegistries: [Race] {
  @Sendable func registry(_ number: Int) -> InitializerRegistry {
    let (registry, store) = (InitializerRegistry(), MemoryPreferenceStore())
    registry.register((any PreferenceStore).self, .instance(store))
    registry.run { Constants(in: nil).list.value = [String](number: number) }
    return registry
  }
  let (current, constants) = (Current(registry(0)), Constants(in: nil))
  return [
    Race(
      "a constant array in registries that end",
      read: { current.value.run { (0..<20).allSatisfy { _ in constants.list.value.isSound } } },
      change: { current.replace(with: registry($0)) })
  ]
}

/// Returns a store in a file of its own; the test process leaves it in the temporary folder.
private func storeInFile() -> any PreferenceStore {
  let url = FileManager.default.temporaryDirectory.appending(path: "races-\(UUID().uuidString)/store.preferences")
  do { return try FilePreferenceStore(url: url) } catch { fatalError("\(error)") }
}

@Suite("Races of preferences", .serialized) struct PreferenceRaceTests {
  @Test("a preference in memory that is assigned is read whole", arguments: races(in: MemoryPreferenceStore()))
  func memory(_ race: Race) async { await race.run() }

  @Test("a preference in a file that is assigned is read whole", arguments: races(in: storeInFile()))
  func file(_ race: Race) async { await race.run(changes: 300) }

  @Test("a constant in registries that end is read whole", arguments: racesOfRegistries)
  func registries(_ race: Race) async { await race.run() }
}
