import Foundation
import PreferenceSpell
import SpellTesting
import TestSupport
import Testing

extension PreferenceKeys {
  static let install = PreferenceKey("declared.install", default: UUID())
}

@Suite("The default of a @Preference", .registry, .timeLimit(.hang)) struct PreferenceDefaultTests {
  let store = MemoryPreferenceStore()
  init() { use(store) }

  final class Program {
    @Preference var install = UUID()
    @Preference(.install) var declared
  }
  final class Slider {
    @Preference var level: Int
    init(initial: Int) { _level = Preference(wrappedValue: initial, "level") }
  }

  @Test("is made once for a store and key, by whatever object it is read, and through the declared key")
  func once() throws {
    let (one, other) = (Program(), Program())
    let install = one.install
    #expect(install == one.install && other.install == install && other.$install.value == install)
    one.$install.reset()
    #expect(one.install == install && store.keys.isEmpty)
    let declared = one.declared
    #expect(try other.declared == declared && store.value(for: .install) == declared && declared != install)
    #expect(try store.transaction { try $0.value(for: .install) } == declared)
    let part = PrefixedPreferenceStore("declared.", in: store)
    #expect(try part.value(for: PreferenceKey("install", default: UUID())) == declared)
    use(MemoryPreferenceStore())
    #expect(Program().install != install && Program().declared != declared)
  }

  @Test("is stored by an update that changes nothing, and not replaced by that of another process")
  func keeping() throws {
    let folder = try TemporaryFolder()
    use(try FilePreferenceStore(url: folder.file()))
    let install = Program().install
    try Program().$install.update { _ in }
    use(try FilePreferenceStore(url: folder.file()))
    #expect(Program().install == install && Program().$install.isSet)
  }

  @Test("is its own if an initializer passes it, or if another declaration has it")
  func passed() {
    #expect(Slider(initial: 1).level == 1 && Slider(initial: 2).level == 2)
    final class Other { @Preference var level = 3 }
    #expect(Other().level == 3)
  }

  #if DEBUG
    final class One {
      @Preference var volume = 5
      @Preference var name = "none"
      @Preference(.install) var install
    }
    final class Other {
      @Preference var volume = 8
      @Preference var name = "none"
      @Preference("volume") var text = "loud"
      @Preference(.install) var install
    }

    @Test("is warned of once if two declarations of a key have different ones")
    func different() async throws {
      let result = try #require(
        await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
          let store = MemoryPreferenceStore()
          let registry = InitializerRegistry()
          registry.register(.instance(store as any PreferenceStore))
          registry.run {
            for _ in 0..<2 {
              let (one, other) = (One(), Other())
              _ = (one.volume, one.name, one.install, other.volume, other.name, other.text, other.install)
            }
          }
        })
      let lines = text(result.standardErrorContent).split(separator: "\n")
        .filter { $0.hasPrefix("Warning:") }
      #expect(lines.count == 1)
      #expect(lines.first?.contains("\"volume\" has two declarations with different defaults") == true)
    }
  #endif

  @Test("is one for all threads")
  func race() async {
    let registry = InitializerRegistry.current
    let installs = await withTaskGroup(of: UUID.self) { group in
      for _ in 0..<100 { group.addTask { registry.run { Program().install } } }
      return await group.reduce(into: Set<UUID>()) { $0.insert($1) }
    }
    #expect(installs.count == 1)
  }

  @Test("takes the place of a value of another type, and the error names the declaration that has this type")
  func conflict() throws {
    final class Reader { @Preference var volume = 5 }
    final class Writer { @Preference("volume") var loudness = "loud" }
    Writer().loudness = "quiet"
    let reader = Reader()
    #expect(reader.volume == 5)
    let error = try #require(reader.$volume.error)
    #expect(error.code == .typeMismatch)
    #expect("\(error)".contains("The key is declared as String at PreferenceSpellTests/PreferenceDefaultTests.swift:"))
  }
}
