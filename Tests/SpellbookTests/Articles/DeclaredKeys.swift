import SpellTesting
import Spellbook
import Synchronization
import Testing

protocol TimeSource: Sendable { var now: Int { get } }
struct SystemTime: TimeSource { let now = 1 }
struct FixedTime: TimeSource { let now: Int }
struct Ticket: Sendable { let time: Int }

extension InjectionKeys {
  static let time = InjectionKey<any TimeSource>(scope: .singleton) {
    SystemTime()
  }
  static let ticket = InjectionKey {
    Ticket(time: try $0.resolve(.time).now)
  }
}

final class Draft: Sendable {}
struct Seat: Sendable {
  let number: Int
  let time: Int
}

extension InjectionKeys {
  static let draft = InjectionKey(scope: .weak) { Draft() }
}

final class Toolbar {
  @Injected(.draft, .weak) var draft  // Draft?
}

extension InjectionKeys {
  static let seat = InjectionKey(
    .factory {
      (resolver, number: Int) in
      Seat(number: number, time: try resolver.resolve(.time).now)
    })
}

final class Hall {
  @Injected(.seat) var makeSeat
  func seat(_ number: Int) throws -> Seat { try makeSeat(number) }
}

extension InjectionKeys {
  static let backend = InjectionKey { "live" }
    .test { "test" }
    .preview { "preview" }
}

struct AmountFormatter: Sendable { func text(_ amount: Int) -> String { "\(amount) €" } }
extension InjectionKeys {
  static let amounts = InjectionKey { AmountFormatter() }.liveInTests()
}

struct AudioClient: Sendable {
  var play: @Sendable (String) -> Void
  var stop: @Sendable () -> Void
  static let live = AudioClient(play: { print("♪ \($0)") }, stop: {})
  static let silent = AudioClient(play: { _ in }, stop: {})
}
extension InjectionKeys {
  static let audio = InjectionKey { AudioClient.live }
    .test { AudioClient.silent }
}
final class Jukebox {
  @Injected(.audio) var audio
  func start() { audio.play("Prelude") }
}

/// The code samples of the article with this name.
@Suite("Declared keys", .registry) struct DeclaredKeys {
  let registry = InitializerRegistry.current

  final class Player {
    @Injected(.time) var time
    @Injected(.ticket) var ticket
  }

  @Test("a registration for a key takes the place of its initializer until it is withdrawn")
  func registration() {
    let registration = registry.register(.time) { FixedTime(now: 9) }
    #expect(Player().ticket.time == 9)

    registration.unregister()
    #expect(Player().ticket.time == 1)
    #expect(Player().time.now == 1)
  }

  @Test("a key in a Sendable class is a constant")
  func constant() {
    final class Service: Sendable { let time = Injected(.time) }
    #expect(Service().time.value.now == 1)
  }

  @Test("a weak property reads nil when nobody else holds the object")
  func weakKey() throws {
    let toolbar = Toolbar()
    let draft = try registry.resolve(.draft)
    #expect(toolbar.draft === draft)
    withExtendedLifetime(draft) {}
  }

  @Test("a key with arguments creates a value for each call, and a registration replaces its factory")
  func arguments() throws {
    let seat = try Hall().seat(7)
    #expect(seat.number == 7 && seat.time == 1)
    #expect(try registry.resolve(.seat, arguments: 7).number == 7)

    registry.register(.seat, .factory { _, number in Seat(number: number, time: 0) })
    #expect(try Hall().seat(8).time == 0)
  }

  @Test(.registry) func usesTheTestBackend() throws {
    let registry = InitializerRegistry.current
    #expect(try registry.resolve(.backend) == "test")

    let preview = InitializerRegistry(context: .preview)
    #expect(try preview.resolve(.backend) == "preview")
  }

  @Test(.registry(.strict)) func usesTheLiveAmounts() throws {
    #expect(try InitializerRegistry.current.resolve(.amounts).text(3) == "3 €")
  }

  @Test(.registry) func playsTheTitle() throws {
    let played = Mutex<[String]>([])
    try InitializerRegistry.current.override(.audio) {
      $0.play = { title in played.withLock { $0.append(title) } }
    }
    Jukebox().start()
    #expect(played.withLock { $0 } == ["Prelude"])
  }
}
