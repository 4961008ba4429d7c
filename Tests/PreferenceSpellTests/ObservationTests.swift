import Foundation
import Observation
import PreferenceSpell
import PreferenceStorage
import SpellTesting
import Synchronization
import TestSupport
import Testing

extension PreferenceKeys {
  fileprivate static let volume = PreferenceKey("volume", default: 5)
}

@Suite("Observation of a @Preference", .registry, .timeLimit(.hang)) struct ObservationTests {
  let store = MemoryPreferenceStore()
  init() { use(store) }

  @Observable final class Model {
    @ObservationIgnored @Preference var count = 0
    var title = ""
  }
  struct Options { @Preference("count") var count = 0 }

  /// Returns whether an observation of the reads in `read` notices the change.
  func isNoticed(_ change: () throws -> Void, by read: () -> Void) rethrows -> Bool {
    let noticed = Mutex(false)
    withObservationTracking(read) { noticed.withLock { $0 = true } }
    try change()
    return noticed.withLock { $0 }
  }

  @Test("a change in any way is noticed, and its new value can be read then")
  func changes() throws {
    let (model, constant) = (Model(), Preference("count", default: 0))
    let changes: [() throws -> Void] = [
      { model.count += 1 }, { Model().count += 1 }, { Options().count += 1 }, { constant.value += 1 },
      { try model.$count.update { $0 += 1 } }, { try model.$count.set(50) }, { model.$count.value = 51 },
      { try store.set(52, forKey: "count") }, { try store.transaction { try $0.set(53, forKey: "count") } },
      { model.$count.reset() }, { try store.set(1, forKey: "count") }, { try store.removeAll() },
    ]
    for change in changes {
      let before = model.count
      let seen = Mutex<Int?>(nil)
      withObservationTracking {
        _ = model.count
      } onChange: {
        seen.withLock { $0 = constant.value }
      }
      try change()
      #expect(seen.withLock { $0 } == model.count)
      #expect(model.count != before)
    }
  }

  @Test("all values of a transaction can be read by the observer of one")
  func transaction() throws {
    let (one, two) = (Preference("one", default: 0, store: store), Preference("two", default: 0, store: store))
    for number in 1...20 {
      for observed in [one, two] {
        let seen = Mutex<[Int]>([])
        #expect(one.value == two.value)
        withObservationTracking {
          _ = observed.value
        } onChange: {
          seen.withLock { $0 = [one.value, two.value] }
        }
        try store.transaction { changes in
          for key in ["one", "two"] { try changes.set(number * 2 + (observed.key == "two" ? 1 : 0), forKey: key) }
        }
        #expect(seen.withLock { $0 == [one.value, two.value] })
      }
    }
  }

  @Test("a read in a class, a struct, a constant, or through $ is tracked")
  func reads() throws {
    final class Plain { @Preference var count = 0 }
    let (model, plain, options, constant) = (Model(), Plain(), Options(), Preference("count", default: 0))
    let reads: [() -> Void] = [
      { _ = model.count }, { _ = plain.count }, { _ = options.count }, { _ = constant.value },
      { _ = plain.$count.value }, { _ = try? plain.$count.load() }, { _ = plain.$count.isSet },
    ]
    for (number, read) in reads.enumerated() {
      #expect(try isNoticed({ try store.set(number, forKey: "count") }, by: read))
    }
  }

  @Test("other keys, equal values, and changes that failed are not noticed")
  func others() throws {
    struct Refused: Error {}
    let model = Model()
    model.count = 7
    #expect(try !isNoticed({ try store.set(1, forKey: "other") }, by: { _ = model.count }))
    #expect(!isNoticed({ model.count = 7 }, by: { _ = model.count }))
    #expect(
      !isNoticed(
        {
          _ = try? store.transaction { changes in
            try changes.set(8, forKey: "count")
            throw Refused()
          }
        }, by: { _ = model.count }))
    #expect(!isNoticed({ model.count = 9 }, by: { _ = model.title }))
  }

  @Test("what another process writes is noticed without a listener")
  func otherProcess() async throws {
    let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { _ = try? FileManager.default.removeItem(at: folder) }
    let path = FilePath(folder.appending(path: "test.preferences").path)
    let count = Preference("count", default: 0, store: try FilePreferenceStore(path: path))
    let other = try FilePreferenceStore(path: path, system: FileSystem())
    for number in 1...20 {
      let isChanged = AsyncLatch()
      withObservationTracking {
        _ = count.value
      } onChange: {
        isChanged.open()
      }
      try other.set(number, forKey: "count")
      await isChanged.wait()
      #expect(count.value == number)
    }
  }

  @Test("the sequence Observations gives each value")
  @MainActor func sequence() async throws {
    let model = Model()
    var iterator = Observations { model.count }.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    for number in 1...10 {
      model.count = number
      #expect(await iterator.next() == number)
    }
  }

  @Test("threads that write while others track miss no last change")
  func race() async throws {
    let constant = Preference("count", default: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<250 { _ = try? constant.update { $0 += 1 } } }
        group.addTask {
          for _ in 0..<250 {
            withObservationTracking {
              _ = constant.value
            } onChange: {
            }
          }
        }
      }
    }
    #expect(constant.value == 1000)
  }

  @Test("a declared key gives a property and a store its type and its default, which is made once")
  func keys() throws {
    let number = Mutex(0)
    let dynamic = PreferenceKey(
      "dynamic",
      default: number.withLock { number in
        number += 1
        return number
      })
    let preference = Preference(dynamic, store: store)
    for _ in 1...2 { #expect(preference.value == 1) }
    #expect(try store.value(for: dynamic) == 1)
    try store.set(10, for: dynamic)
    for _ in 1...2 { #expect(preference.value == 10) }
    try store.removeValue(for: dynamic)
    #expect(preference.value == 1)
    try store.transaction { changes in
      try changes.set(try changes.value(for: .volume) + 1, for: .volume)
    }
    #expect(try store.value(for: .volume) == 6)
  }
}
