import Foundation
import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

enum Constants {
  static let launches = Preference("launches", default: 0)
}

@Suite("The store of a @Preference", .registry, .timeLimit(.hang)) struct PreferenceStoreChoiceTests {
  var registry: InitializerRegistry { .current }

  @Test("is the one registered for the container's class, else for all")
  func perContainer() {
    final class Own { @Preference var nickname = "guest" }
    let (own, common) = (MemoryPreferenceStore(), MemoryPreferenceStore())
    use(common)
    registry.register((any PreferenceStore).self, .in(Own.self) { _ in own })
    Own().nickname = "own"
    Settings().nickname = "common"
    #expect((try? own.value(String.self, forKey: "nickname")) == "own")
    #expect((try? common.value(String.self, forKey: "nickname")) == "common")
  }

  @Test("can be registered for one key by its name")
  func perName() {
    let secrets = MemoryPreferenceStore()
    use(MemoryPreferenceStore())
    registry.register((any PreferenceStore).self, named: "nickname") { secrets }
    let settings = Settings()
    settings.nickname = "Alex"
    settings.language = .dutch
    #expect(secrets.keys == ["nickname"])
  }

  @Test("if the declaration gives it with the key, keeps no registry")
  func givenByTheDeclaration() {
    let store = MemoryPreferenceStore()
    weak var gone: InitializerRegistry?
    var property: Any?
    do {
      let registry = InitializerRegistry()
      registry.run {
        let volume = Preference("volume", default: 5, store: store)
        final class Own { @Preference var name: String = ""; init(_ name: Preference<String>) { _name = name } }
        let own = Own(Preference(wrappedValue: "", "name", store: store))
        volume.value = 7
        own.name = "Ada"
        property = (volume, own)
      }
      gone = registry
    }
    #expect(property != nil && gone == nil && store.keys == ["volume", "name"])
  }

  @Test("of a constant is that of the current registry, when many registries and threads ask at once")
  func ofConstantInManyRegistries() async {
    await withTaskGroup(of: Void.self) { group in
      for number in 1...100 {
        group.addTask {
          let registry = InitializerRegistry(context: .test)
          registry.register(.instance(MemoryPreferenceStore() as any PreferenceStore))
          registry.run {
            #expect(Constants.launches.value == 0)
            Constants.launches.value = number
            for _ in 0..<100 { #expect(Constants.launches.value == number) }
          }
        }
      }
    }
  }

  @Test("of a constant keeps a failed assignment's error while registries with the same store ask in turn")
  func sameStore() throws {
    final class FullStore: CustomPreferenceStore {
      let hub = PreferenceHub()
      let keys: [String] = []
      func json(forKey key: String) -> String? { nil }
      func write(_ changes: [PreferenceChange]) throws(PreferenceError) { throw PreferenceError(.noSpace, "full") }
    }
    let store = FullStore()
    let registries = (0..<2).map { _ in InitializerRegistry() }
    for registry in registries { registry.register((any PreferenceStore).self) { store } }
    let count = Preference("count", default: 0)
    registries[0].run { count.value = 1 }
    registries[1].run { #expect(count.value == 0) }
    registries[0].run { #expect(count.error?.code == .noSpace) }
  }

  @Test("is that of the registry that was current when the object was made")
  func captured() async {
    let (mine, store) = (InitializerRegistry(), MemoryPreferenceStore())
    mine.register((any PreferenceStore).self) { store }
    let settings = mine.run { Settings() }
    settings.nickname = "Alex"
    #expect(store.keys == ["nickname"])
  }

  @Test("of a static is that of the registry in force at each use", arguments: 1...5)
  func statics(number: Int) {
    use(MemoryPreferenceStore())
    #expect(Constants.launches.value == 0)
    Constants.launches.value = number
    #expect(Constants.launches.value == number)
    InitializerRegistry().run {
      let other = MemoryPreferenceStore()
      InitializerRegistry.current.register((any PreferenceStore).self) { other }
      #expect(Constants.launches.value == 0)
    }
    #expect(Constants.launches.value == number)
  }

  @Test("doesn't keep the registry that keeps the object", arguments: [false, true])
  func release(isUsed: Bool) throws {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      registry.register((any PreferenceStore).self) { MemoryPreferenceStore() }
      registry.register(KeptSettings.self, scope: .singleton) { KeptSettings() }
      let settings = try registry.resolve(KeptSettings.self)
      if isUsed { #expect(settings.nickname == "guest") }
      gone = registry
    }
    #expect(gone == nil)
  }

  @Test("is the test's for an object that was made in a run and outlives it")
  func outliving() {
    let store = MemoryPreferenceStore()
    let settings = registry(with: store).run { Settings() }
    settings.nickname = "Alex"
    #expect(store.keys == ["nickname"])
    #expect(settings.$nickname.value == "Alex")
  }

  private func registry(with store: MemoryPreferenceStore) -> InitializerRegistry {
    let registry = InitializerRegistry()
    registry.register((any PreferenceStore).self) { store }
    return registry
  }

  @Test("stays when the registry that keeps the object is gone, and needs none if the property gives it")
  func outlivingItsRegistry() throws {
    let (store, own) = (MemoryPreferenceStore(), MemoryPreferenceStore())
    // `@unchecked Sendable`: no code assigns the wrappers after `init`, and locks of the cache guard each value.
    final class Both: @unchecked Sendable {
      @Preference var nickname = "guest"
      @Preference var name: String
      init(_ store: MemoryPreferenceStore) { _name = Preference(wrappedValue: "", "name", store: store) }
    }
    func make() throws -> Both {
      let registry = registry(with: store)
      registry.register(Both.self, scope: .singleton) { Both(own) }
      let both = try registry.resolve(Both.self)
      both.nickname = "Alex"
      return both
    }
    let both = try make()
    both.nickname += "a"
    both.name = "Ada"
    #expect(try store.value(String.self, forKey: "nickname") == "Alexa")
    #expect(own.keys == ["name"])
  }

  @Test(
    "if it can't be made: the default is read, the reason reported, nothing kept, and it is tried again",
    .timeLimit(.hang))
  func unavailable() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "preference-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "settings.preferences")
    try Data("hello\n".utf8).write(to: file)
    registry.register((any PreferenceStore).self) { try FilePreferenceStore(url: file) }

    let settings = Settings()
    settings.nickname = "lost?"
    #expect(settings.nickname == "guest")
    #expect(settings.$nickname.error?.code == .notAPreferencesFile)
    #expect(try String(contentsOf: file, encoding: .utf8) == "hello\n")

    try FileManager.default.removeItem(at: file)
    while settings.$nickname.error?.code == .notAPreferencesFile {
      try await Task.sleep(for: .milliseconds(5))
    }
    settings.nickname = "kept"
    #expect(settings.$nickname.error == nil)
    #expect(try FilePreferenceStore(url: file).value(String.self, forKey: "nickname") == "kept")
  }

  @Test("isn't the standard one if the registered one lacks a dependency: the reason is reported, and nothing kept")
  func lacksDependency() throws {
    registry.register((any PreferenceStore).self) {
      _ = try $0.resolve(Int.self)
      return MemoryPreferenceStore()
    }
    let settings = Settings()
    settings.nickname = "lost?"
    #expect(settings.nickname == "guest")
    let error = try #require(settings.$nickname.error)
    #expect(error.code == .unreadable && "\(error)".contains("No initializer is registered for Int"), "\(error)")
  }

  @Test("that has a value of another type keeps it, also from an assignment, and reports it until it is replaced")
  func mismatch() throws {
    let store = MemoryPreferenceStore()
    use(store)
    try store.set(7, forKey: "nickname")
    let settings = Settings()
    for _ in 0..<2 {
      #expect(settings.nickname == "guest")
      #expect(settings.$nickname.error?.code == .typeMismatch)
    }
    #expect(settings.$nickname.isSet)
    #expect(try store.value(Int.self, forKey: "nickname") == 7)
    settings.nickname = "Alex"
    settings.nickname += "a"
    #expect(try store.value(Int.self, forKey: "nickname") == 7)
    #expect(settings.$nickname.error?.code == .typeMismatch)
    try settings.$nickname.set("Alex")
    #expect(settings.$nickname.error == nil)
    settings.nickname += "a"
    #expect(settings.nickname == "Alexa")
    try store.set(7, forKey: "nickname")
    settings.$nickname.reset()
    #expect(settings.nickname == "guest")
    #expect(settings.$nickname.error == nil)
  }

  @Test("reports an assignment that it refused, since the type has changed, and keeps what a later version has stored")
  func newerVersion() async throws {
    struct Theme: Codable, Sendable, Equatable {
      var name = "light"
      var accent = "blue"
    }
    let store = MemoryPreferenceStore()
    var errors = store.errors.makeAsyncIterator()
    try store.transaction { try $0.set(json: #"{"name":"dark","size":1}"#, forKey: "theme") }
    let theme = Preference("theme", default: Theme(), store: store)
    theme.value.accent = "red"
    #expect(store.json(forKey: "theme") == #"{"name":"dark","size":1}"#)
    #expect(await errors.next()?.code == .typeMismatch)
    #expect(theme.value == Theme())
    // The error is reported once for the assignment and once for the read.
    #expect(await errors.next()?.description.contains("`accent` Optional") == true)
    let message = theme.error?.description ?? ""
    #expect(message.contains("Make `accent` Optional, or write init(from:) with decodeIfPresent"))
    #expect(!message.contains("assign again"))
  }

  @Test("refuses a value that is encoded as null, which would read as the default")
  func encodedAsNull() throws {
    struct Answer: Codable, Sendable, Equatable {
      var isKnown: Bool
      init(isKnown: Bool) { self.isKnown = isKnown }
      init(from decoder: any Decoder) throws { isKnown = try !decoder.singleValueContainer().decodeNil() }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if isKnown { try container.encode(true) } else { try container.encodeNil() }
      }
    }
    let answer = Preference("answer", default: Answer(isKnown: true), store: MemoryPreferenceStore())
    answer.value = Answer(isKnown: false)
    #expect(answer.error?.code == .invalidValue)
    #expect(answer.value == Answer(isKnown: true))
  }

  @Test("decodes under no lock: two values that read each other's property while they are decoded")
  func mutualDecoding() throws {
    let store = MemoryPreferenceStore(), threads = DispatchGroup()
    Mutual.stores.withLock { $0 = store }
    for round in 0..<200 {
      try store.transaction { changes in for key in ["a", "b"] { try changes.set(round, forKey: key) } }
      for key in ["a", "b"] {
        threads.enter()
        Thread.detachNewThread {
          _ = Preference(key, default: Mutual(key: key), store: store).value
          threads.leave()
        }
      }
      threads.wait()
    }
  }
}

/// Settings that a registry may keep.
///
/// `@unchecked Sendable`: the only property is a preference, whose cache's locks guard its value.
private final class KeptSettings: @unchecked Sendable {
  @Preference var nickname = "guest"
}

@Suite("A property whose registry is gone", .timeLimit(.hang)) struct GoneRegistryTests {
  @Test("stops the program at its first use, and says what to hold")
  func stops() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      func make() throws -> KeptSettings {
        let registry = InitializerRegistry()
        registry.register(KeptSettings.self, scope: .singleton) { KeptSettings() }
        return try registry.resolve(KeptSettings.self)
      }
      try make().nickname = "Alex"
    }
    #expect(text(result.standardErrorContent).contains("hold the registry for as long as you use the object"))
  }
}

@Suite("A store that is registered in the wrong way", .timeLimit(.hang)) struct MisregisteredStoreTests {
  @Test("stops the program, which would else write to the person's own file", arguments: [true, false])
  func ownType(isInstance: Bool) async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [isInstance] in
      InitializerRegistry().run {
        if isInstance {
          InitializerRegistry.current.register(.instance(MemoryPreferenceStore()))
        } else {
          InitializerRegistry.current.register { MemoryPreferenceStore() }
        }
        Settings().nickname = "Alex"
      }
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("A MemoryPreferenceStore is registered as its own type"))
    #expect(message.contains("(any PreferenceStore).self"))
  }
}

/// A value whose decoding reads another preference.
private struct Mutual: Codable, Sendable {
  static let stores = Mutex<MemoryPreferenceStore?>(nil)
  @TaskLocal static var isInside = false
  var number = 0
  init(key: String) {}
  init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(Int.self)
    guard !Mutual.isInside, let store = Mutual.stores.withLock(\.self) else { return }
    Mutual.$isInside.withValue(true) {
      for key in ["a", "b"] { _ = Preference(key, default: Mutual(key: key), store: store).value }
    }
  }
}
