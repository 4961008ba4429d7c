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

private func registerServices(in registry: InitializerRegistry) {
  registry.register((any Mailer).self, scope: .singleton) {
    SMTPMailer()
  }
  registry.register(Newsletter.self, .autowire(Newsletter.init))
}

/// The code samples of the article with this name.
@Suite("Only dependency injection", .registry) struct OnlyDependencyInjection {
  @Test(.registry { $0.register(.mailer) { RecordingMailer() } })
  func sendsAWelcome() { #expect(Signup().outbox.isRecording) }

  @Test("a service that is registered by type is resolved, and nothing is missing")
  func byType() throws {
    let registry = InitializerRegistry()
    registerServices(in: registry)
    #expect(try registry.resolve(Newsletter.self).mailer.isRecording == false)
    #expect(registry.validate().isEmpty)
  }

  @Test("a request replaces a service")
  func request() {
    let request = InitializerRegistry.current.child { child in
      child.register(.mailer) { RecordingMailer() }
    }
    let signup = request.run { Signup() }
    #expect(signup.outbox.isRecording)
    #expect(!Signup().outbox.isRecording)
  }
}
