// Built in the language mode of Swift 5, with the main actor as the default isolation.
import LaunchInitializers
import Observation
import SpellTesting
import Spellbook
import Testing

protocol Tracker: Sendable { var name: String { get } }
final class FileTracker: Tracker { let name = "file" }
final class Log {
  let tracker: Tracker
  init(tracker: Tracker) { self.tracker = tracker }
}
nonisolated struct Filter: Codable, Sendable, Equatable { var text = "" }

nonisolated extension InjectionKeys {
  static let log = InjectionKey(scope: .weak, .onMainActor { Log(tracker: FileTracker()) })
  static let title = InjectionKey(.factory { (_, number: Int) in "Page \(number)" })
}

@Observable final class PageModel {
  @ObservationIgnored @Preference var filter = Filter()
  @ObservationIgnored @Injected var tracker: Tracker
  @ObservationIgnored @Injected(.log, .weak) var log
  @ObservationIgnored @Injected(.title) var title
  @ObservationIgnored @Lazy(onInjection: PageModel.didMake) var rows = ["header"]
  @ObservationIgnored @Final var id: Int
  var heard: [String] = []

  func didMake(_ rows: [String]) { heard += rows }
}

struct Configuration: Configurable {
  let serviceStorage: ServiceStorage = [:]
  func currentStage() -> ReleaseStage { .test }
  static func defaultConfiguration() -> Configuration { Configuration() }
}
final class Prepare: Initializable {
  let model: PageModel
  init(_ model: PageModel) { self.model = model }
  func perform(with configuration: Configurable) async throws { model.id = 7 }
}

@Suite("An app in the language mode of Swift 5", .registry, .timeLimit(.minutes(20)))
struct SwiftFiveAppTests {
  @Test("uses every wrapper, a launch step and the trait, as written for Swift 6")
  func everything() async throws {
    let registry = InitializerRegistry.current
    registry.register(Tracker.self, scope: .singleton, .onMainActor { FileTracker() })
    registry.register(.autowireOnMainActor({ Log(tracker: $0) }))
    let model = PageModel()
    try await LaunchSequence(configuration: Configuration()) { Prepare(model) }.launch()
    #expect(model.id == 7 && model.tracker.name == "file")
    #expect(try model.title(3) == "Page 3")
    #expect(model.rows == ["header"] && model.heard == ["header"])
    model.filter.text = "new"
    #expect(PageModel().filter == Filter(text: "new"))
    let log = model.log
    #expect(log != nil && model.log === log)
    #expect(try registry.resolve(Log.self).tracker.name == "file")
    #expect(registry.validate().isEmpty)
  }
}
