import Foundation
import SpellTesting
import Spellbook
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension InjectionKeys {
  static let urlSession = InjectionKey(scope: .singleton) {
    URLSession(configuration: .default)
  }
  .test { URLSession(configuration: .ephemeral) }
}

extension InjectionKeys {
  static let scratchFolder = InjectionKey(scope: .singleton) {
    URL.temporaryDirectory.appending(path: UUID().uuidString)
  }
  .liveInTests()
}

/// The samples of this module's page.
@Suite("Standard keys") struct StandardKeysPage {
  struct Receipt: Equatable {
    let id: UUID
    let date: Date
  }
  final class Desk {
    @Injected(.now) var now
    @Injected(.uuid) var uuid
    func makeReceipt() -> Receipt {
      Receipt(id: uuid(), date: now())
    }
  }

  @Test(.registry) func numbersReceipts() {
    let desk = Desk()
    let receipts = [desk.makeReceipt(), desk.makeReceipt()]
    let ids = receipts.map(\.id.uuidString)
    #expect(ids[0] == "00000000-0000-0000-0000-000000000000")
    #expect(ids[1] == "00000000-0000-0000-0000-000000000001")
  }

  @Test("a key that is live in tests has one value in each test's registry", .registry(.strict))
  func scratchFolders() throws {
    let registry = InitializerRegistry.current
    let folder = try registry.resolve(.scratchFolder)
    #expect(try registry.resolve(.scratchFolder) == folder)
    #expect(try InitializerRegistry(context: .test).resolve(.scratchFolder) != folder)
  }

  @Test("a registration for a key takes the place of its value", .registry)
  func registered() throws {
    let registry = InitializerRegistry.current
    registry.register(.now) { { Date(timeIntervalSince1970: 0) } }
    registry.register(.environment) { ["HOME": "/home/me"] }

    #expect(Desk().makeReceipt().date.timeIntervalSince1970 == 0)
    #expect(try registry.resolve(.environment)["HOME"] == "/home/me")
    #expect(try registry.resolve(.urlSession) !== URLSession.shared)
  }
}
