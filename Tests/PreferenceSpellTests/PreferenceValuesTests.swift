import PreferenceSpell
import PreferenceStorage
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

@Suite("The values of a @Preference", .registry, .timeLimit(.hang)) struct PreferenceValuesTests {
  let store = MemoryPreferenceStore()
  init() { use(store) }

  @Test("begin with the present one, then come in order, by whomever")
  func order() async throws {
    let settings = Settings()
    var values = settings.$nickname.values.makeAsyncIterator()
    #expect(await values.next() == "guest")
    Settings().nickname = "one"
    #expect(await values.next() == "one")
    try store.set("two", forKey: "nickname")
    #expect(await values.next() == "two")
    try store.removeAll()
    #expect(await values.next() == "guest")
  }

  @Test("leave out the changes of other keys, and arrive as one if no value is read in between")
  func coalesced() async {
    let settings = Settings()
    var values = settings.$nickname.values.makeAsyncIterator()
    _ = await values.next()
    settings.language = .dutch
    for number in 0..<100 { settings.nickname = "value \(number)" }
    #expect(await values.next() == "value 99")
    settings.nickname = "last"
    #expect(await values.next() == "last")
  }

  @Test("end when the task that reads them is cancelled")
  func cancellation() async {
    let projection = Settings().$nickname
    let task = Task {
      var count = 0
      for await _ in projection.values { count += 1 }
      return count
    }
    task.cancel()
    #expect(await task.value <= 1)
  }
}
