import Foundation
import PreferenceStorage
import Synchronization
import Testing

@testable import EtcdPreferences

extension EtcdTests {
  @Suite("A connection that fails")
  struct FailureTests {
    let prefix = "/\(UUID().uuidString)/"

    private func direct() async throws -> EtcdPreferenceStore {
      try EtcdPreferenceStore(try await EtcdNodes.shared.value.cluster, prefix: prefix)
    }

    /// Returns a store that reaches etcd through a proxy, and the proxy, which can make the connection fail.
    private func proxied(
      snapshot: URL? = nil, _ change: (inout EtcdCluster) -> Void = { _ in }
    ) async throws -> (EtcdPreferenceStore, Proxy) {
      let proxy = try await Proxy(to: EtcdNodes.shared.value.port(0))
      var cluster = try await EtcdNodes.shared.value.cluster
      cluster.endpoints = [proxy.endpoint]
      cluster.retryLimit = .seconds(3)
      change(&cluster)
      return (try EtcdPreferenceStore(cluster, prefix: prefix, snapshot: snapshot), proxy)
    }

    private func add(_ number: Int, to key: String, of store: EtcdPreferenceStore) throws {
      try store.transaction { try $0.set(($0.value(Int.self, forKey: key) ?? 0) + number, forKey: key) }
    }

    @Test("that loses an answer doesn't make a transaction's changes twice, nor lose them")
    func lostAnswer() async throws {
      let (store, proxy) = try await proxied()
      for number in 1...5 {
        proxy.loseNextAnswer()
        try add(1, to: "count", of: store)
        #expect(try store.value(Int.self, forKey: "count") == number)
      }
      #expect(try await direct().value(Int.self, forKey: "count") == 5)
    }

    @Test("that loses an answer before others go on from it is understood from the history")
    func lostAnswerAndOthers() async throws {
      let (store, proxy) = try await proxied()
      let other = try await direct()
      try add(1, to: "count", of: store)
      try other.reload()
      let runs = Mutex(0)
      proxy.loseNextAnswer {
        // etcd has the change, and its answer has arrived at the proxy.
        do { try self.add(10, to: "count", of: other) } catch { Issue.record(error) }
      }
      try store.transaction { changes in
        runs.withLock { $0 += 1 }
        try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
      }
      #expect(runs.withLock { $0 } == 1)
      #expect(try store.value(Int.self, forKey: "count") == 12)
      #expect(try other.value(Int.self, forKey: "count") == 12)
    }

    @Test("that loses the answer to an assignment doesn't lose the value")
    func lostAnswerToAssignment() async throws {
      let (store, proxy) = try await proxied()
      proxy.loseNextAnswer()
      try store.set(1, forKey: "a")
      #expect(try await direct().value(Int.self, forKey: "a") == 1)
    }

    @Test("that loses an answer and then reaches etcd no more doesn't say that the change was not made")
    func lostAnswerAndCut() async throws {
      let (store, proxy) = try await proxied { $0.retryLimit = .milliseconds(300) }
      try store.set(0, forKey: "a")
      for number in 1...3 {
        proxy.loseNextAnswer { [unowned proxy] in proxy.cut() }
        let error = #expect(throws: PreferenceError.self) { try store.set(number, forKey: "a") }
        #expect(error?.description.contains("whether it was made will be seen") == true, "\(error as Any)")
        #expect(try await direct().value(Int.self, forKey: "a") == number)
        proxy.restore()
        try await eventually("the store has the change") { try store.value(Int.self, forKey: "a") == number }
      }
    }

    @Test("that loses an answer before etcd refuses the next attempt doesn't say that the change was not made")
    func lostAnswerAndRefusal() async throws {
      let (store, proxy) = try await proxied()
      let client = try await EtcdNodes.shared.value.client(0)
      proxy.loseNextAnswer {
        do { try client.setAlarm(true) } catch { Issue.record(error) }
      }
      let error = #expect(throws: PreferenceError.self) { try store.set(1, forKey: "a") }
      try client.setAlarm(false)
      #expect(error?.code == .unwritable)
      #expect(error?.description.contains("whether it was made will be seen") == true, "\(error as Any)")
      #expect(try await direct().value(Int.self, forKey: "a") == 1)
    }

    @Test("that is there again within the retry limit decides whether a change was made whose answer was lost")
    func lostAnswerAndPause() async throws {
      let (store, proxy) = try await proxied { $0.retryLimit = .seconds(60) }
      proxy.loseNextAnswer { [unowned proxy] in proxy.cut() }
      async let adding: Void = onThread { try self.add(1, to: "count", of: store) }
      try await eventually("the store has tried again") { proxy.refusals > 3 }
      proxy.restore()
      try await adding
      #expect(try await direct().value(Int.self, forKey: "count") == 1)
    }

    @Test("that ends is taken up again, and what was changed meanwhile is told, also if the history is compacted")
    func lostConnection() async throws {
      let (store, proxy) = try await proxied()
      let other = try await direct()
      for key in ["kept", "removed", "changed"] { try store.set(1, forKey: key) }
      var changes = store.changes().makeAsyncIterator()
      var errors = store.errors.makeAsyncIterator()
      proxy.cut()
      #expect(await errors.next()?.code == .unreadable)
      #expect(!store.state.isConnected)
      #expect(try store.value(Int.self, forKey: "changed") == 1)
      let error = #expect(throws: PreferenceError.self) { try store.set(2, forKey: "kept") }
      #expect(error?.code == .unwritable)
      #expect(throws: PreferenceError.self) { try store.reload() }

      try other.reload()
      try other.set(2, forKey: "changed")
      try other.removeValue(forKey: "removed")
      try other.set(1, forKey: "new")
      try await EtcdNodes.shared.value.client(0).compact()
      proxy.restore()
      #expect(await changes.next() == ["changed", "removed", "new"])
      #expect(store.state.isConnected)
      #expect(store.keys == ["kept", "changed", "new"])
      try other.set(3, forKey: "changed")
      #expect(await changes.next() == ["changed"])
    }

    @Test("that is dead without an end is noticed")
    func silentConnection() async throws {
      let (store, proxy) = try await proxied {
        $0.silenceLimit = .milliseconds(100)
        $0.requestLimit = .milliseconds(200)
        $0.retryLimit = .milliseconds(500)
      }
      let other = try await direct()
      var changes = store.changes().makeAsyncIterator()
      try store.set(1, forKey: "a")
      #expect(await changes.next() == ["a"])
      proxy.silence()
      try await eventually("the store knows") { !store.state.isConnected }
      try other.reload()
      try other.set(2, forKey: "a")
      proxy.restore()
      #expect(await changes.next() == ["a"])
      #expect(try store.value(Int.self, forKey: "a") == 2)
    }

    @Test("whose watch is dead without an end is noticed too if others remove values, and nothing else")
    func deadWatch() async throws {
      let (store, proxy) = try await proxied { $0.silenceLimit = .milliseconds(200) }
      let client = try await EtcdNodes.shared.value.client(0)
      try store.set(1, forKey: "kept")
      var changes = store.changes(of: "removed").makeAsyncIterator()
      for _ in 1...6 {
        try client.put("1", at: prefix + "removed")
        #expect(await changes.next() == ["removed"])
        proxy.muteWatches()
        try client.delete(prefix + "removed")
        #expect(await changes.next() == ["removed"])
        #expect(store.keys == ["kept"])
        #expect(store.state.isConnected)
      }
    }

    @Test("tells later readers of the errors why etcd is away")
    func errorsLater() async throws {
      let (store, proxy) = try await proxied()
      #expect(store.state.isConnected)
      proxy.cut()
      try await eventually("the store knows") { !store.state.isConnected }
      var errors = store.errors.makeAsyncIterator()
      let reason = await errors.next()
      #expect(reason?.code == .unreadable)
      #expect(reason?.description.contains(proxy.endpoint.absoluteString) == true)
      store.hub.report(PreferenceError(.unreadable, "another one"))
      #expect(await errors.next()?.description == "another one")
    }

    @Test("leaves a snapshot, with which a program starts and reads while etcd is away")
    func snapshot() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "etcd-snapshot-\(UUID().uuidString)")
      defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) } }
      let file = folder.appending(path: "settings.preferences")
      let other = try await direct()
      try other.set("b", forKey: "b")
      try other.set("removed later", forKey: "a")
      do {
        let (store, proxy) = try await proxied(snapshot: file)
        var changes = store.changes().makeAsyncIterator()
        try other.removeValue(forKey: "a")
        #expect(await changes.next() == ["a"])
        try store.set("c", forKey: "c")
        proxy.cut()
      }
      let nowhere = EtcdCluster(endpoints: [URL(string: "http://127.0.0.1:1")!])
      let store = try EtcdPreferenceStore(nowhere, prefix: prefix, snapshot: file)
      #expect(!store.state.isConnected)
      #expect(store.keys == ["b", "c"])
      #expect(try store.value(String.self, forKey: "b") == "b")
      #expect(throws: PreferenceError.self) { try store.set("d", forKey: "d") }
      #expect(store.keys == ["b", "c"])
    }

    @Test("finds each change in the snapshot once its assignment has returned")
    func snapshotOfEachChange() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "etcd-snapshot-\(UUID().uuidString)")
      defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) } }
      let file = folder.appending(path: "settings.preferences")
      let store = try EtcdPreferenceStore(try await EtcdNodes.shared.value.cluster, prefix: prefix, snapshot: file)
      for number in 1...300 {
        try store.set(number, forKey: "n")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.last?.hasSuffix("{\"n\":\(number)}") == true)
      }
    }

    @Test("sets a snapshot aside that can't be read, but only while etcd has the values")
    func unreadableSnapshot() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "etcd-snapshot-\(UUID().uuidString)")
      defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) } }
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = folder.appending(path: "settings.preferences")
      let nowhere = EtcdCluster(endpoints: [URL(string: "http://127.0.0.1:1")!])
      try await direct().set(1, forKey: "a")
      for name in ["settings.preferences.unreadable", "settings.preferences.unreadable-2"] {
        try Data("Not a preferences file".utf8).write(to: file)
        let error = #expect(throws: PreferenceError.self) {
          try EtcdPreferenceStore(nowhere, prefix: prefix, snapshot: file)
        }
        #expect(error?.code == .notAPreferencesFile)
        #expect(try String(contentsOf: file, encoding: .utf8) == "Not a preferences file")

        let (store, _) = try await proxied(snapshot: file)
        #expect(store.state.isConnected)
        #expect(store.snapshotFailure?.description.contains(name) == true)
        var errors = store.errors.makeAsyncIterator()
        #expect(await errors.next()?.description == store.snapshotFailure?.description)
        #expect(try String(contentsOf: folder.appending(path: name), encoding: .utf8) == "Not a preferences file")
        let away = try EtcdPreferenceStore(nowhere, prefix: prefix, snapshot: file)
        #expect(try away.value(Int.self, forKey: "a") == 1)
        #expect(away.snapshotFailure == nil)
        try FileManager.default.removeItem(at: file)
      }
    }

    @Test("is none to a store without a snapshot: it starts empty, and has the values when etcd is there")
    func lateEtcd() async throws {
      try await direct().set(1, forKey: "a")
      let proxy = try await Proxy(to: EtcdNodes.shared.value.port(0))
      proxy.cut()
      let store = try EtcdPreferenceStore(EtcdCluster(endpoints: [proxy.endpoint]), prefix: prefix)
      #expect(store.keys == [])
      var changes = store.changes().makeAsyncIterator()
      proxy.restore()
      #expect(await changes.next() == ["a"])
      #expect(store.state.isConnected)
    }

    @Test("to one member is taken up with the next one")
    func nextMember() async throws {
      let proxy = try await Proxy(to: EtcdNodes.shared.value.port(0))
      let last = try await EtcdNodes.shared.value.endpoint(0)
      let cluster = EtcdCluster(endpoints: [URL(string: "http://127.0.0.1:1")!, proxy.endpoint, last])
      let store = try EtcdPreferenceStore(cluster, prefix: prefix)
      #expect(store.state.isConnected)
      var changes = store.changes().makeAsyncIterator()
      proxy.cut()
      try await direct().set(1, forKey: "a")
      #expect(await changes.next() == ["a"])
      try store.set(2, forKey: "a")
      #expect(try await direct().value(Int.self, forKey: "a") == 2)
      #expect(store.state.isConnected)
    }

    @Test("can't be made to a part of etcd without a prefix, nor with a certificate that isn't there")
    func mistakes() throws {
      let cluster = EtcdCluster(
        endpoints: [URL(string: "https://127.0.0.1:1")!],
        tls: .init(certificateAuthority: URL(filePath: "/nowhere/ca.pem")))
      let prefixError = #expect(throws: PreferenceError.self) { try EtcdPreferenceStore(cluster, prefix: "") }
      #expect(prefixError?.code == .invalidKey)
      let fileError = #expect(throws: PreferenceError.self) { try EtcdPreferenceStore(cluster, prefix: "/a/") }
      #expect(fileError?.path == "/nowhere/ca.pem")
    }
  }
}
