import LaunchInitializers
import Testing

@Suite("Configuration") struct ConfigurationTests {
  let configuration = NoConfiguration(serviceStorage: [
    "Network": [
      .test: ["Limit": "7", "Ratio": "0.5", "Fast": "YES", "Odd": "maybe", "Empty": ""],
      .production: ["Host": "example.org"],
    ]
  ])

  @Test("a value is converted to the requested type, and a missing value is nil")
  func typed() throws {
    #expect(try configuration.value(for: "Network", key: "Limit", as: Int.self) == 7)
    #expect(try configuration.value(for: "Network", key: "Ratio", as: Double.self) == 0.5)
    #expect(try configuration.value(for: "Network", key: "None", as: Int.self) == nil)
    #expect(try configuration.requiredValue(for: "Network", key: "Limit", as: Int.self) == 7)
    #expect(configuration.value(for: "Network", key: "Empty") == "")
  }

  @Test("reads the usual spellings of a Bool", arguments: ["true", "Yes", "on", "1"])
  func bools(spelling: String) throws {
    let configuration = NoConfiguration(serviceStorage: ["A": [.test: ["B": spelling, "C": "off"]]])
    #expect(try configuration.value(for: "A", key: "B", as: Bool.self) == true)
    #expect(try configuration.value(for: "A", key: "C", as: Bool.self) == false)
  }

  @Test("refuses a malformed value without showing it", arguments: ["Odd", "Empty", "Ratio"])
  func malformed(key: String) throws {
    let error = try #require(throws: ConfigurationError.self) {
      try configuration.value(for: "Network", key: key, as: Int.self)
    }
    #expect(error.code == .malformed)
    #expect(
      error.description == """
        Network.\(key): the value can't be read as Int. Correct the value that NoConfiguration returns for stage test.
        """)
    #expect(throws: ConfigurationError.self) {
      try configuration.value(for: "Network", key: "Odd", as: Bool.self)
    }
  }

  @Test("the error for a missing value says which values there are instead")
  func missing() throws {
    func message(_ service: String, _ key: String, in stage: ReleaseStage = .test) throws -> String {
      var configuration = configuration
      configuration.stage = stage
      let error = try #require(throws: ConfigurationError.self) {
        try configuration.requiredValue(for: service, key: key)
      }
      #expect(error.code == .missing)
      return error.description
    }
    #expect(try message("Network", "limit").hasSuffix("Did you mean Limit?"))
    #expect(try message("Netwrok", "Limit").hasSuffix("Did you mean Network?"))
    #expect(try message("Network", "Host").hasSuffix("It has one in: production."))
    let keys = "The configuration has the keys: Empty, Fast, Host, Limit, Odd, Ratio."
    #expect(try message("Network", "Zebra", in: "beta").hasSuffix("no value in stage beta. \(keys)"))
    #expect(try message("Database", "Host").hasSuffix("The configuration has the services: Network."))
    #expect(throws: ConfigurationError.self) {
      try configuration.requiredValue(for: "Network", key: "None", as: Int.self)
    }
  }
}
