import LaunchInitializers
import SpellRegistry
import SpellTesting
import Testing

@Suite("A step that makes a service", .registry) struct ServiceInitializerTests {
  final class Database: Sendable {
    let path: String
    init(path: String) { self.path = path }
  }
  protocol Tracker: Sendable { var name: String { get } }
  struct FileTracker: Tracker { let name = "file" }

  struct DatabaseInitializer: ServiceInitializer {
    func makeService(with configuration: any Configurable) async throws -> Database {
      Database(path: try configuration.require("Database", key: "Path"))
    }
  }
  struct TrackerInitializer: ServiceInitializer {
    func makeService(with configuration: any Configurable) async throws -> any Tracker { FileTracker() }
  }

  let configuration = NoConfiguration(serviceStorage: ["Database": [.test: ["Path": "/data"]]])

  @Test("registers the one instance in the registry that is current at the launch")
  func registers() async throws {
    let launch = try LaunchSequence(configuration: configuration) {
      DatabaseInitializer()
      TrackerInitializer()
    }
    try await launch.launch()
    let database: Database = try InitializerRegistry.current.resolve()
    #expect(database.path == "/data")
    #expect(try InitializerRegistry.current.resolve(Database.self) === database)
    #expect(try InitializerRegistry.current.resolve((any Tracker).self).name == "file")
    #expect(throws: InjectionError.self) { try InitializerRegistry.shared.resolve(Database.self) }
  }

  @Test("is there for the steps after it")
  func forLaterSteps() async throws {
    let launch = try LaunchSequence(configuration: configuration) {
      DatabaseInitializer().id("db")
      Do { _ in
        let database: Database = try InitializerRegistry.current.resolve()
        #expect(database.path == "/data")
      }.after("db").id("user")
    }
    try await launch.launch()
  }

  @Test("registers nothing where it fails")
  func failure() async throws {
    let launch = try LaunchSequence(configuration: NoConfiguration()) { DatabaseInitializer() }
    let error = try await #require(throws: LaunchError.self) { try await launch.launch() }
    #expect((error.underlying as? ConfigurationError)?.code == .missing)
    #expect(throws: InjectionError.self) { try InitializerRegistry.current.resolve(Database.self) }
  }

  @Test("of two launches at once registers in the registry of each")
  func twoRegistries() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          let registry = InitializerRegistry()
          let configuration = NoConfiguration(serviceStorage: ["Database": [.test: ["Path": "/\(number)"]]])
          let launch = try LaunchSequence(configuration: configuration) {
            DatabaseInitializer().id("db")
            Do { _ in
              await Task.yield()
              #expect(InitializerRegistry.current === registry)
            }.after("db")
          }
          _ = try await registry.run { try await launch.launch() }
          #expect(try registry.resolve(Database.self).path == "/\(number)")
        }
      }
      try await group.waitForAll()
    }
  }
}
