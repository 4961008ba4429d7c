import PreferenceSpell
import PreferenceStorage
import SpellTesting
import TestSupport
import Testing

private struct Address: Codable, Equatable, Sendable { var street = "", number = 1 }
private struct User: Codable, Equatable, Sendable {
  var name = "guest"
  var tags: [String] = []
  var address = Address()
}

@Suite("A part of a @Preference", .registry, .timeLimit(.hang)) struct PreferencePartTests {
  let store = MemoryPreferenceStore()
  init() { use(store) }

  private final class Account { @Preference var user = User() }

  @Test("is read and set plainly, at any depth")
  func plain() throws {
    let account = Account()
    let street = account.$user.address.street
    #expect(street.value == "")
    street.value = "Main"
    account.$user.name.value = "Ada"
    try account.$user.tags.update { $0.append("x") }
    #expect(account.user == User(name: "Ada", tags: ["x"], address: Address(street: "Main")))
    #expect(account.$user.tags[0].value == "x")
  }

  @Test("is changed by many threads at once, and no other part is lost")
  func race() async {
    let user = Account().$user
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { _ = try? user.tags.update { $0.append("\(number)") } }
        group.addTask { user.address.number.value = number }
        group.addTask { user.name.value = "name \(number)" }
      }
    }
    #expect(Set(user.value.tags) == Set((0..<50).map(String.init)))
  }

  @Test("of a value that can't be read is the default's, is not overwritten, and says why")
  func mismatch() throws {
    try store.set(7, forKey: "user")
    let account = Account()
    #expect(account.$user.name.value == "guest")
    account.$user.name.value = "Ada"
    #expect(try store.value(Int.self, forKey: "user") == 7)
    #expect(account.$user.error?.code == .typeMismatch)
    #expect(throws: PreferenceError.self) { try account.$user.name.update { $0 = "Ada" } }
    try account.$user.name.update(recovering: true) { $0 = "Ada" }
    #expect(account.user == User(name: "Ada"))
  }
}
