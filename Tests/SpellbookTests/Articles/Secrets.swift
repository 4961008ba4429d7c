import Foundation
import SpellTesting
import Spellbook
import Synchronization
import TestSupport
import Testing

extension PreferenceKeys {
  static let token = PreferenceKey<String?>("token").erasing
}

protocol SecretKeeper: Sendable {
  func load() throws -> Data?
  func save(_ secret: Data) throws
}

final class SecretStore: CustomPreferenceStore {
  private struct Entry: Codable { let key, json: String }

  let hub = PreferenceHub()
  private let keeper: any SecretKeeper
  private let entries: Mutex<[Entry]>

  init(in keeper: any SecretKeeper) throws {
    self.keeper = keeper
    let secret = try keeper.load() ?? Data("[]".utf8)
    let kept = try JSONDecoder().decode([Entry].self, from: secret)
    entries = Mutex(kept)
  }

  var keys: [String] { entries.withLock { $0.map(\.key) } }

  func json(forKey key: String) -> String? {
    entries.withLock { $0.first { $0.key == key }?.json }
  }

  func write(_ changes: [PreferenceChange]) throws(PreferenceError) {
    var new = entries.withLock(\.self)
    for change in changes {
      let place =
        new.firstIndex { $0.key == change.key } ?? new.endIndex
      if place < new.endIndex { new.remove(at: place) }
      guard let json = change.json else { continue }
      new.insert(Entry(key: change.key, json: json), at: place)
    }
    do { try keeper.save(JSONEncoder().encode(new)) } catch {
      throw PreferenceError(
        .unwritable, "can't be kept; unlock the keychain",
        underlying: error)
    }
    entries.withLock { $0 = new }
  }
}

/// A keeper in memory that works like the Keychain and libsecret, and can be locked like them.
final class MemoryKeeper: SecretKeeper {
  struct Locked: Error {}
  private let secret = Mutex<Data?>(nil)
  let isLocked = Mutex(false)

  func load() throws -> Data? {
    if isLocked.withLock(\.self) { throw Locked() }
    return secret.withLock(\.self)
  }
  func save(_ new: Data) throws {
    if isLocked.withLock(\.self) { throw Locked() }
    secret.withLock { $0 = new }
  }
}

@Suite("A store for secrets", .timeLimit(.hang)) struct SecretStoreTests {
  @Test(arguments: PreferenceStoreSuite.checks + PreferenceStoreSuite.lastingChecks)
  func keepsTheContract(check: PreferenceStoreSuite.Check) async {
    let keeper = MemoryKeeper()
    await check.run(reopening: { try SecretStore(in: keeper) }) { try SecretStore(in: keeper) }
  }

  @Test("is registered for a class, has nothing of a removed token, and keeps its values while the keeper is locked")
  func registered() throws {
    final class Account { @Preference(.token) var token }
    let (registry, keeper) = (InitializerRegistry(), MemoryKeeper())

    let secrets = try SecretStore(in: keeper)
    registry.register(
      .instance(secrets as any PreferenceStore).in(Account.self))

    try registry.run {
      let account = Account()
      account.token = "hunter2"
      keeper.isLocked.withLock { $0 = true }
      account.token = nil
      #expect(account.token == "hunter2" && account.$token.error?.code == .unwritable)
      keeper.isLocked.withLock { $0 = false }
      account.token = nil
      let kept = try #require(try keeper.load())
      #expect(String(decoding: kept, as: UTF8.self) == "[]")
    }
  }
}
