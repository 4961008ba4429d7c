import CustomSpells
import SpellTesting
import Spellbook
import Synchronization
import Testing

private class Player: InjectionObserver {
  @Clamped(0...10) var volume = 5
  @Clamped(-1...1) var balance = 3.5
  var heard: [String] = []
  func didInject(_ value: Any, intoProperty name: String) { heard.append("\(name)=\(value)") }
}

private final class StereoPlayer: Player {
  @Clamped("a"..."m") var channel = "z"
}

/// Lines from any thread.
private final class HeardLines: Sendable {
  private let content = Mutex<[String]>([])
  var lines: [String] { content.withLock(\.self) }
  func add(_ line: String) { content.withLock { $0.append(line) } }
}

@Suite("@Clamped", .registry) struct ClampedTests {
  @Test("begins with its initial value, brought into the range, and notifies no observer")
  func initialValue() {
    let player = StereoPlayer()
    #expect(player.volume == 5)
    #expect(player.balance == 1)
    #expect(player.channel == "m")
    #expect(player.heard.isEmpty)
  }

  @Test(
    "an assignment beyond the range sets the nearest value in it",
    arguments: [(-1, 0), (0, 0), (7, 7), (10, 10), (11, 10)])
  func assignment(assigned: Int, expected: Int) {
    let player = Player()
    player.volume = assigned
    #expect(player.volume == expected)
  }

  @Test("observers hear of what each assignment set, by the property's name")
  func observer() {
    let player = StereoPlayer()
    player.volume = 12
    player.volume -= 4
    player.channel = "b"
    #expect(player.heard == ["volume=10", "volume=6", "channel=b"])
  }

  @Test("an observer may read the property that it hears of")
  func reading() {
    final class Reader: InjectionObserver {
      @Clamped(0...10) var volume = 5
      var seen: [Int] = []
      func didInject(_ value: Any, intoProperty name: String) { seen.append(volume) }
    }
    let reader = Reader()
    reader.volume = 12
    reader.volume = 3
    #expect(reader.seen == [10, 3])
  }

  @Test("hooks of the registry hear of it too")
  func registryHook() {
    let heard = HeardLines()
    InitializerRegistry.current.onInjection { value, point in heard.add("\(point.propertyName ?? "-")=\(value)") }
    Player().volume = 3
    #expect(heard.lines == ["volume=3"])
  }

  @Test("copies of a struct are assigned apart")
  func structCopies() {
    struct Setting { @Clamped(0...10) var volume = 5 }
    var first = Setting()
    first.volume = 20
    var second = first
    second.volume = 1
    #expect(first.volume == 10)
    #expect(second.volume == 1)
  }

  @Test("works in actors and main-actor classes")
  @MainActor func isolation() async {
    actor Mixer {
      @Clamped(0...10) var level = 0
      func raise() -> Int {
        level += 20
        return level
      }
    }
    #expect(await Mixer().raise() == 10)
    @MainActor final class Slider { @Clamped(0...1) var position = 0.5 }
    let slider = Slider()
    slider.position = -3
    #expect(slider.position == 0)
  }
}
