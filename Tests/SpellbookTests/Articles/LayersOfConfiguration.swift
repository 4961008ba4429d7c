import Spellbook
import Testing

/// The samples of the article of this name.
@Suite("Layers of configuration") struct LayersOfConfiguration {
  @Test("a configuration has values of several layers and shows no secrets")
  func configuration() throws {
    let configuration = LayeredConfiguration(
      stage: .production,
      layers: [
        .environment(prefix: "APP", variables: ["APP_CRASH_API_KEY": "from-outside"]),
        .memory(["Crash": [.production: ["ApiKey": "live-key", "Limit": "7"]]]),
      ])
    let key = try configuration.requiredValue(for: "Crash", key: "ApiKey")
    let limit = try configuration.value(
      for: "Crash", key: "Limit", as: Int.self)
    #expect(key == "from-outside")
    #expect(limit == 7)

    #expect(
      configuration.explanation(for: "Crash", key: "ApiKey") == """
        Crash.ApiKey = •••, stage production
          environment: •••  (APP_CRASH_API_KEY)  ← used
          memory: •••
        """)
    #expect(!"\(configuration)".contains("live-key"))
  }
}
