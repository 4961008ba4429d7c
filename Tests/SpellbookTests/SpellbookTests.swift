import Foundation
import SpellTesting
import Spellbook
import Testing

@Suite("Spellbook", .registry) struct SpellbookTests {
  final class Everything {
    @Lazy var log = ["made"]
    @Injected var number: Int
    @Final var id: String
    @Preference var launches = 0
  }

  @Test("one import brings every wrapper, and they live in one class")
  func oneImport() {
    InitializerRegistry.current.register(Int.self) { 7 }
    let everything = Everything()
    everything.id = "a"
    everything.launches += 1
    #expect(everything.log == ["made"])
    #expect(everything.number == 7)
    #expect(everything.id == "a")
    #expect(Everything().launches == 1)
  }

  @Test("Foundation's value types start empty if nothing is registered")
  func foundationDefaults() {
    final class Holder {
      @Lazy var data: Data
      @Lazy var decimal: Decimal
      @Lazy var text: AttributedString
      @Lazy var path: IndexPath
      @Lazy var uuid: UUID
      @Lazy var date: Date
    }
    let holder = Holder()
    #expect(holder.data.isEmpty)
    #expect(holder.decimal == 0)
    #expect(holder.text == AttributedString())
    #expect(holder.path.isEmpty)
    #expect(holder.uuid == holder.uuid)
    #expect(holder.date <= Date())
  }

  @Test("a container's observer is called once for every kind of injection, with the property's name")
  func observer() {
    final class Observed: InjectionObserver {
      @Lazy var lazy = "l"
      @Injected var injected: Int
      @Final var final: Bool
      @Preference var preference = 0
      var heard: [String] = []
      func didInject(_ value: Any, intoProperty name: String) { heard.append("\(name)=\(value)") }
    }
    InitializerRegistry.current.register(Int.self) { 7 }
    InitializerRegistry.current.register(Bool.self, .in(Observed.self) { _ in true })
    let observed = Observed()
    for _ in 0..<2 { _ = (observed.lazy, observed.injected, observed.final, observed.preference) }
    #expect(observed.heard == ["lazy=l", "injected=7", "final=true"])
  }

  @Test("a preview has its own preferences, and what the keys declare for previews")
  func preview() throws {
    final class Timer {
      @Preference var minutes = 25
      @Injected(.now) var now
      @Injected(.uuid) var uuid
    }
    let timer = InitializerRegistry.preview(["minutes": 50]) { Timer() }
    #expect(timer.minutes == 50 && timer.now() == Date(timeIntervalSinceReferenceDate: 0))
    #expect(timer.uuid().uuidString == "00000000-0000-0000-0000-000000000000")
    timer.minutes = 10
    #expect(InitializerRegistry.preview { Timer().minutes } == 25)
  }
}
