import InjectedSpell
import SpellTesting
import Testing

protocol Mailer: Sendable { var isRecording: Bool { get } }
struct SMTPMailer: Mailer { let isRecording = false }
struct RecordingMailer: Mailer { let isRecording = true }

struct Outbox {
  let mailer: any Mailer
  var isRecording: Bool { mailer.isRecording }
}
struct Newsletter {
  let mailer: any Mailer
}

extension InjectionKeys {
  static let mailer = InjectionKey<any Mailer>(scope: .singleton) {
    SMTPMailer()
  }
  static let outbox = InjectionKey {
    Outbox(mailer: try $0.resolve(.mailer))
  }
}

final class Signup {
  @Injected(.outbox) var outbox
}

private enum Services {
  static func registry() -> InitializerRegistry {
    let registry = InitializerRegistry()
    registry.register((any Mailer).self, scope: .singleton) {
      SMTPMailer()
    }
    registry.register(Newsletter.self, .autowire(Newsletter.init))
    return registry
  }
}

/// The code samples of the article with this name.
@Suite("Only dependency injection") struct OnlyDependencyInjection {
  @Test(.registry { $0.register(.mailer) { RecordingMailer() } })
  func sendsAWelcome() { #expect(Signup().outbox.isRecording) }

  @Test func findsWhatIsMissing() {
    #expect(Services.registry().validate().isEmpty)
  }

  @Test("a service that is registered by type is resolved")
  func byType() throws {
    #expect(try Services.registry().resolve(Newsletter.self).mailer.isRecording == false)
  }

  @Test("a request replaces a service")
  func request() {
    let registry = InitializerRegistry()
    let request = registry.child { child in
      child.register(.mailer) { RecordingMailer() }
    }
    let signup = request.run { Signup() }
    #expect(signup.outbox.isRecording)
    #expect(!registry.run { Signup().outbox.isRecording })
  }
}
