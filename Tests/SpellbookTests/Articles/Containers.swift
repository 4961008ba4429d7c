#if canImport(Glibc)
  import Foundation
  import Glibc
  import LaunchInitializers
  import PreferenceSpell
  import SpellTesting
  import TestSupport
  import Testing

  private func notifySystemd(_ state: String) {
    guard let path = getenv("NOTIFY_SOCKET") else { return }
    let length = strlen(path)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard length < MemoryLayout.size(ofValue: address.sun_path)
    else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { name in
      memcpy(name.baseAddress!, path, length)
      // In the address, an abstract name begins with a zero.
      if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    }
    let socket = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(socket) }
    let size = MemoryLayout<sa_family_t>.size + length
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(
          socket, state, strlen(state), 0, $0, socklen_t(size))
      }
    }
  }

  /// A socket at an abstract address, as systemd may open it for a service.
  private struct Listener {
    let name = "@spellbook-\(UUID().uuidString)"
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)

    init() {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [0] + name.utf8.dropFirst()) }
      let size = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { precondition(bind(socket, $0, size) == 0) }
      }
    }

    func receive() -> String {
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = recv(socket, &buffer, buffer.count, 0)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
  }

  private struct Step: Initializable {
    func perform(with _: any Configurable) async throws {}
  }

  private struct Settings: Configurable {
    var serviceStorage: ServiceStorage = [:]
    func currentStage() -> ReleaseStage { .production }
    static func defaultConfiguration() -> Settings { Settings() }
  }

  /// The code samples of the article with this name.
  @Suite("Containers and systemd", .timeLimit(.minutes(20))) struct Containers {
    @Test("a store trusts a folder that others can write")
    func trusted() throws {
      let folder = try TemporaryFolder()
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
      let file = folder.url.appending(path: "settings.preferences")
      #expect(throws: PreferenceError.self) { try FilePreferenceStore(url: file) }
      let store = try FilePreferenceStore(url: file, folder: .trusted)
      try store.set(1, forKey: "a")
      #expect(try store.value(Int.self, forKey: "a") == 1)
    }

    @Test("systemd is told that the program is ready, and that it stops")
    func notify() async throws {
      await #expect(processExitsWith: .success) {
        let (listener, drain) = (Listener(), Duration.milliseconds(1))
        setenv("NOTIFY_SOCKET", listener.name, 1)
        let launch = try LaunchSequence(configuration: Settings()) { Step().id("step") }
        let ending = Task.detached {
          precondition(listener.receive() == "READY=1")
          kill(getpid(), SIGTERM)
          precondition(listener.receive() == "STOPPING=1")
        }
        let systemd = Task { [events = launch.events] in
          for await event in events {
            switch (event.phase, event.kind) {
            case (.launch, .phaseEnded) where launch.isReady:
              notifySystemd("READY=1")
            case (_, .draining), (.shutDown, .phaseBegan):
              notifySystemd("STOPPING=1")
            default: break
            }
          }
        }
        let code = await launch.run(on: [.terminate], drain: drain)
        await systemd.value
        await ending.value
        precondition(code == 0)
      }
    }
  }
#endif
