import EtcdPreferences
import Foundation
import Spellbook
import SpellTesting
import Synchronization
import Testing

extension EtcdTests {
  @Suite("Stores of several machines")
  struct SharingTests {
    let prefix = "/\(UUID().uuidString)/"

    private func store() async throws -> EtcdPreferenceStore {
      try EtcdPreferenceStore(try await EtcdNodes.shared.value.cluster, prefix: prefix)
    }

    private func add(_ number: Int, to key: String, of store: some PreferenceStore) throws {
      try store.transaction { try $0.set(($0.value(Int.self, forKey: key) ?? 0) + number, forKey: key) }
    }

    @Test("hear what another sets and removes, when it can be read")
    func notices() async throws {
      let (one, other) = (try await store(), try await store())
      var changes = other.changes().makeAsyncIterator()
      for number in 1...20 {
        try one.set(number, forKey: "a")
        #expect(await changes.next() == ["a"])
        #expect(try other.value(Int.self, forKey: "a") == number)
      }
      try one.removeValue(forKey: "a")
      #expect(await changes.next() == ["a"])
      #expect(other.keys == [])
      try one.transaction { changes in
        for key in ["b", "c"] { try changes.set(true, forKey: key) }
      }
      #expect(await changes.next() == ["b", "c"])
    }

    @Test("update a property of another machine's object", .registry)
    func property() async throws {
      final class Service { @Preference var greeting = "hello" }

      let (one, other) = (try await store(), try await store())
      InitializerRegistry.current.register(.instance(other as any PreferenceStore))
      let service = Service()
      var greetings = service.$greeting.values.makeAsyncIterator()
      #expect(await greetings.next() == "hello")
      try one.set("good morning", forKey: "greeting")
      #expect(await greetings.next() == "good morning")
      service.greeting = "good night"
      try await eventually("the other machine reads it") {
        try one.value(String.self, forKey: "greeting") == "good night"
      }
    }

    @Test("hear what another program puts, and keep what isn't a preference out")
    func otherPrograms() async throws {
      let store = try await store()
      let client = try await EtcdNodes.shared.value.client(0)
      var changes = store.changes().makeAsyncIterator()
      try client.put("no text", at: prefix + "broken")
      #expect(await changes.next() == ["broken"])
      #expect(throws: PreferenceError.self) { try store.value(String.self, forKey: "broken") }
      // The store spells é as one code point, not as e with a combining accent.
      try client.put("1", at: prefix + "e\u{301}")
      try client.put(#""hello""#, at: prefix + "greeting")
      #expect(await changes.next() == ["greeting"])
      #expect(try store.value(String.self, forKey: "greeting") == "hello")
      try client.delete(prefix + "broken")
      #expect(await changes.next() == ["broken"])
      #expect(store.keys == ["greeting"])
      try store.reload()
      #expect(store.keys == ["greeting"])
    }

    @Test("run a transaction's body again if another has changed what it read")
    func conflict() async throws {
      let (one, other) = (try await store(), try await store())
      try one.set(1, forKey: "a")
      var runs = 0
      try one.transaction { changes in
        runs += 1
        let old = try changes.value(Int.self, forKey: "a") ?? 0
        if runs == 1 { try add(10, to: "a", of: other) }
        try changes.set(old + 1, forKey: "b")
      }
      #expect(runs == 2)
      #expect(try one.value(Int.self, forKey: "b") == 12)
    }

    @Test("don't run it again if another has changed something else")
    func noConflict() async throws {
      let (one, other) = (try await store(), try await store())
      var runs = 0
      try one.transaction { changes in
        runs += 1
        try other.set(runs, forKey: "a")
        try changes.set(1, forKey: "b")
      }
      #expect(runs == 1)
    }

    @Test("run a body that lists the keys again if another has added or removed one", arguments: [true, false])
    func listing(adds: Bool) async throws {
      let (one, other) = (try await store(), try await store())
      try one.set(1, forKey: "a")
      try other.reload()
      var runs = 0
      try one.transaction { changes in
        runs += 1
        let count = changes.keys.count
        if runs == 1, adds { try other.set(1, forKey: "b") }
        if runs == 1, !adds { try other.removeValue(forKey: "a") }
        try changes.set(count, forKey: "count")
      }
      #expect(runs == 2)
      #expect(try one.value(Int.self, forKey: "count") == (adds ? 2 : 0))
    }

    @Test("remove however many values at once, and refuse more other changes than etcd takes")
    func manyValues() async throws {
      let store = try await store()
      for start in [0, 100] {
        try store.transaction { changes in
          for number in start..<start + 100 { try changes.set(number, forKey: "\(number)") }
        }
      }
      let error = #expect(throws: PreferenceError.self) {
        try store.transaction { changes in
          for number in 0..<200 { try changes.set("new", forKey: "\(number)") }
        }
      }
      #expect(error?.code == .unwritable)
      #expect(error?.description.contains("too many operations") == true)
      #expect(try store.value(Int.self, forKey: "7") == 7)
      try store.removeAll()
      #expect(store.keys == [])
      #expect(try await self.store().keys == [])
    }

    @Test("lose none of 500 updates of each of 8 processes")
    func processes() async throws {
      let endpoint = try await EtcdNodes.shared.value.endpoint(0).absoluteString
      let (count, times) = (8, 500)
      let outputs = try await withThrowingTaskGroup(of: Program.Output.self) { group in
        for _ in 0..<count {
          group.addTask { [prefix] in
            // On a disk that other programs use, etcd may need some seconds to write.
            try await Program.run([
              "--etcd", endpoint, "--prefix", prefix, "--retry", "60", "add", "count", "1", "\(times)",
            ])
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outputs.allSatisfy { $0 == Program.Output() }, "\(outputs)")
      #expect(try await store().value(Int.self, forKey: "count") == count * times)
    }

    @Test("write from more tasks than the program has threads for")
    func manyTasks() async throws {
      let store = try await store()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<100 { group.addTask { try store.set(number, forKey: "key of \(number)") } }
        try await group.waitForAll()
      }
      #expect(store.keys.count == 100)
    }
  }
}
