import Foundation
import Testing

extension EtcdTests {
  @Suite("The program")
  struct ProgramTests {
    let prefix = "/\(UUID().uuidString)/"

    private func run(_ arguments: String...) async throws -> Program.Output {
      let endpoint = try await EtcdNodes.shared.value.endpoint(0).absoluteString
      return try await Program.run(
        ["--prefix", prefix, "--retry", "60"] + arguments, environment: ["FLEET_ETCD": endpoint])
    }

    @Test("shows, sets and removes settings")
    func settings() async throws {
      #expect(try await run("set", "limit", "7") == .init())
      #expect(try await run("set", "greeting", "good morning") == .init())
      #expect(try await run("show") == .init(text: "limit = 7\ngreeting = \"good morning\"\n"))
      #expect(try await run("show", "greeting") == .init(text: "\"good morning\"\n"))
      #expect(try await run("remove", "limit") == .init())
      #expect(try await run("show", "limit") == .init(code: 1, complaints: "limit isn't set.\n"))
    }

    @Test("prints each change while it watches")
    func watch() async throws {
      _ = try await run("set", "limit", "7")
      let endpoint = try await EtcdNodes.shared.value.endpoint(0).absoluteString
      let watching = try Program.Running(["--etcd", endpoint, "--prefix", prefix, "watch"])
      var lines = watching.lines.makeAsyncIterator()
      #expect(try await lines.next() == "limit = 7")
      _ = try await run("add", "limit", "3")
      #expect(try await lines.next() == "limit = 10")
      _ = try await run("remove", "limit")
      #expect(try await lines.next() == "limit = not set")
    }

    @Test("says that etcd is away, and shows what the snapshot has")
    func away() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "etcd-fleet-\(UUID().uuidString)")
      defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) } }
      let file = folder.appending(path: "settings.preferences").path
      #expect(try await run("--snapshot", file, "set", "limit", "7") == .init())
      let output = try await run("--etcd", "http://127.0.0.1:1", "--snapshot", file, "show")
      #expect(output.code == 0)
      #expect(output.text == "limit = 7\n")
      #expect(output.complaints.hasPrefix("etcd is away. the values in etcd can't be read: http://127.0.0.1:1 doesn't"))
      #expect(try await run("--etcd", "http://127.0.0.1:1", "show").code == 1)
    }

    @Test(
      "explains how it is called",
      arguments: [
        [], ["shows"], ["set", "a"], ["--etcd"], ["--etc", "a", "show"], ["add", "a", "b"], ["--etcd", "", "show"],
      ])
    func usage(arguments: [String]) async throws {
      let output = try await Program.run(arguments)
      #expect(output.code == 64)
      #expect(output.complaints.contains("usage: fleet"))
    }
  }
}
