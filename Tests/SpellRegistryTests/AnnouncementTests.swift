import SpellRegistry
import TestSupport
import Testing

@Suite("An announcement") struct AnnouncementTests {
  private final class Observed: InjectionObserver {
    @Spell var number: Int
    var heard: [String] = []
    func didInject(_ value: Any, intoProperty name: String) { heard.append("\(name)=\(value)") }
  }

  let registry = InitializerRegistry()

  @Test("notifies the container that observes, by the property's name, then the registry")
  func order() throws {
    let observed = Observed()
    registry.onInjection { value, point in
      (point.container as? Observed)?.heard.append("registry \(point.propertyName ?? "-")=\(value)")
    }
    registry.notifyObservers(of: 7, at: observed.$number.point(in: observed))
    #expect(observed.heard == ["number=7", "registry number=7"])
    #expect(!observed.$number.hasValue)
  }

  @Test("without a container notifies the registry alone")
  func noContainer() {
    let heard = Counter()
    registry.onInjection { _, point in if point.container == nil { heard.increment() } }
    registry.notifyObservers(of: 7, at: Observed().$number.point(in: nil))
    #expect(heard.value == 1)
  }

  @Test("of a property whose name reflection does not show stops the program with a sentence")
  func unnamed() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Hidden: InjectionObserver, CustomReflectable {
        @Spell var number: Int
        func didInject(_ value: Any, intoProperty name: String) {}
        var customMirror: Mirror { Mirror(self, children: []) }
      }
      let hidden = Hidden()
      InitializerRegistry().notifyObservers(of: 7, at: hidden.$number.point(in: hidden))
    }
    let message = text(result?.standardErrorContent)
    #expect(message.contains("Hidden observes its injections, but reflection does not show the name"))
    #expect(message.contains("SpellRegistryTests/Spell.swift:"))
  }
}
