import SpellTesting
import Spellbook
import Synchronization
import TestSupport
import Testing

/// The mocks of the article "Testing".
@Suite("Mocks", .registry, .timeLimit(.hang)) struct TestingMocks {
  protocol Mailer: Sendable { func send(_ subject: String) async }
  protocol Journal: Sendable { func write(_ step: String) }
  protocol Meter: AnyObject { func add() }

  final class Signup {
    @Injected var mailer: any Mailer
    func complete() async { await mailer.send("Welcome") }
  }

  final class Wizard {
    @Injected var journal: (any Journal)?
    @Injected var meter: (any Meter)?
    func advance() {
      journal?.write("first")
      meter?.add()
    }
  }

  actor SentMail: Mailer {
    private(set) var subjects: [String] = []
    func send(_ subject: String) { subjects.append(subject) }
  }

  final class RecordedSteps: Journal {
    private let written = Mutex<[String]>([])
    var steps: [String] { written.withLock { $0 } }
    func write(_ step: String) { written.withLock { $0.append(step) } }
  }

  final class CountingMeter: Meter {
    private(set) var count = 0
    func add() { count += 1 }
  }

  @Test func welcomesByAnActor() async {
    let mail = SentMail()
    InitializerRegistry.current.register((any Mailer).self) { mail }
    await Signup().complete()
    #expect(await mail.subjects == ["Welcome"])
  }

  @Test func writesByALock() {
    let journal = RecordedSteps()
    InitializerRegistry.current.register((any Journal).self) { journal }
    Wizard().advance()
    #expect(journal.steps == ["first"])
  }

  @Test func countsByTheObject() throws {
    InitializerRegistry.current.register((any Meter).self) {
      CountingMeter()
    }
    let wizard = Wizard()
    wizard.advance()
    let meter = try #require(wizard.meter as? CountingMeter)
    #expect(meter.count == 1)
  }
}
