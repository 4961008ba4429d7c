import Foundation
import LaunchInitializers
import TestSupport
import Testing

@Suite("Layered configuration") struct LayeredConfigurationTests {
  let folder: TemporaryFolder
  let secret = "s3cret-value"

  init() throws { folder = try TemporaryFolder() }

  @Test("a value comes from the first layer that has it in the current stage")
  func precedence() {
    let configuration = LayeredConfiguration(
      stage: .test,
      layers: [
        .environment(prefix: "APP", variables: ["APP_NET_LIMIT": "1"]),
        .memory(["Net": [.test: ["Limit": "2", "Host": "a"], .production: ["Host": "p"]]]),
        .memory(["Net": [.test: ["Limit": "3", "Host": "b", "Port": "80"]]]),
      ])
    #expect(configuration.value(for: "Net", key: "Limit") == "1")
    #expect(configuration.value(for: "Net", key: "Host") == "a")
    #expect(configuration.value(for: "Net", key: "Port") == "80")
    #expect(configuration.value(for: "Net", key: "None") == nil)
    #expect(configuration.serviceStorage["Net"]?[.test] == ["Limit": "2", "Host": "a", "Port": "80"])
  }

  @Test(
    "the name of a variable is the words of the service and key in capitals",
    arguments: [
      ("ApiKey", "APP_MY_CRASH_API_KEY"), ("baseURLPath", "APP_MY_CRASH_BASE_URL_PATH"), ("a-b", "APP_MY_CRASH_A_B"),
      ("URL", "APP_MY_CRASH_URL"), ("http2Port", "APP_MY_CRASH_HTTP2_PORT"),
    ])
  func variables(key: String, variable: String) {
    let configuration = LayeredConfiguration(
      stage: .test, layers: [.environment(prefix: "APP", variables: [variable: "x"])])
    #expect(configuration.value(for: "MyCrash", key: key) == "x")
  }

  @Test("the error for a missing value names the variable to set")
  func missingVariable() throws {
    func message(_ layers: [LayeredConfiguration.Layer]) throws -> String {
      let configuration = LayeredConfiguration(stage: .test, layers: layers)
      return try #require(throws: ConfigurationError.self) {
        try configuration.requiredValue(for: "Crash", key: "ApiKey")
      }
      .description
    }
    let environment = LayeredConfiguration.Layer.environment(prefix: "APP", variables: [:])
    #expect(
      try message([environment])
        == "Crash.ApiKey: no value in stage test. Set it in the environment as APP_CRASH_API_KEY.")
    #expect(
      try message([environment, .memory(["Crash": [.production: ["ApiKey": secret]]])])
        == """
        Crash.ApiKey: no value in stage test. It has one in: production. Set it in the environment as \
        APP_CRASH_API_KEY.
        """)
    #expect(try message([.memory([:])]) == "Crash.ApiKey: no value in stage test. There is no service Crash.")
    #expect(
      LayeredConfiguration(stage: .test, layers: [environment]).explanation(for: "Crash", key: "ApiKey")
        .hasSuffix("environment: –  (APP_CRASH_API_KEY)"))
  }

  @Test("a layer of variables reads the environment of the process")
  func process() {
    setenv("SPELLTEST_SERVICE_KEY", "here", 1)
    let configuration = LayeredConfiguration(stage: .test, layers: [.environment(prefix: "SPELLTEST")])
    #expect(configuration.value(for: "Service", key: "Key") == "here")
    #expect(configuration.value(for: "Service", key: "Other") == nil)
    #expect(LayeredConfiguration.defaultConfiguration().currentStage() == .production)
  }

  @Test("a file has strings, numbers and Bools, and a missing file is like an empty one")
  func file() throws {
    let path = try write(#"{"Crash": {"test": {"ApiKey": "abc", "Limit": 7, "Ratio": 0.5, "On": true}}}"#)
    let configuration = try LayeredConfiguration(stage: .test, layers: [.file(path), .file(path + ".none")])
    #expect(configuration.value(for: "Crash", key: "ApiKey") == "abc")
    #expect(try configuration.value(for: "Crash", key: "Limit", as: Int.self) == 7)
    #expect(try configuration.value(for: "Crash", key: "Ratio", as: Double.self) == 0.5)
    #expect(try configuration.value(for: "Crash", key: "On", as: Bool.self) == true)
  }

  @Test(
    "a malformed file is an error with its path, which quotes none of its text",
    arguments: [
      "", "{", "[]", "s3cret-value", #"{"Crash": "s3cret-value"}"#, #"{"Crash": {"test": {"Key": ["s3cret-value"]}}}"#,
      #"{"Crash": {"test": {"Key": null}}}"#, #"{"Crash": {"test": {"Key": "s3cret-value"}}"#,
    ])
  func malformedFile(text: String) throws {
    let path = try write(text)
    let error = try #require(throws: ConfigurationError.self) { try LayeredConfiguration.Layer.file(path) }
    #expect(error.code == .malformedFile)
    #expect(error.path == path)
    #expect(error.description.contains(path))
    #expect(!"\(error)".contains(secret) && !String(reflecting: error).contains(secret))
    var dumped = ""
    dump(error, to: &dumped)
    #expect(!dumped.contains(secret))
  }

  @Test("the error for a malformed file names the value")
  func faultyValue() throws {
    let path = try write(#"{"Crash": {"test": {"Keys": ["a"]}}}"#)
    let error = try #require(throws: ConfigurationError.self) { try LayeredConfiguration.Layer.file(path) }
    #expect(error.description.contains("the value at Crash.test.Keys has the wrong type"))
  }

  @Test(
    "refuses a file that can't be read, such as a folder", arguments: [FileManager.default.temporaryDirectory.path, ""])
  func unreadableFile(path: String) throws {
    let error = try #require(throws: ConfigurationError.self) { try LayeredConfiguration.Layer.file(path) }
    #expect(error.code == .unreadableFile)
    #expect(error.path == path)
  }

  @Test("a number in a file is converted as a number, so 1.10 becomes 1.1")
  func versions() throws {
    let path = try write(#"{"App": {"test": {"Number": 1.10, "Text": "1.10"}}}"#)
    let configuration = try LayeredConfiguration(stage: .test, layers: [.file(path)])
    #expect(configuration.value(for: "App", key: "Number") == "1.1")
    #expect(configuration.value(for: "App", key: "Text") == "1.10")
  }

  @Test("an explanation says that a file is missing")
  func noFile() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json").path
    let configuration = try LayeredConfiguration(stage: .test, layers: [.file(path)])
    #expect(configuration.explanation(for: "App", key: "Name").hasSuffix("\n  file \(path) (missing): –"))
  }

  @Test("an empty variable is ignored, and the explanation says so")
  func emptyVariable() {
    let configuration = LayeredConfiguration(
      stage: .test,
      layers: [
        .environment(prefix: "APP", variables: ["APP_NET_HOST": ""]), .memory(["Net": [.test: ["Host": "here"]]]),
      ])
    #expect(configuration.value(for: "Net", key: "Host") == "here")
    #expect(
      configuration.explanation(for: "Net", key: "Host") == """
        Net.Host = •••, stage test
          environment: empty, ignored  (APP_NET_HOST)
          memory: •••  ← used
        """)
  }

  @Test("the error for a value of the wrong type names its layer and variable")
  func malformedValue() throws {
    let path = try write(#"{"Net": {"test": {"Port": "x"}}}"#)
    let configuration = try LayeredConfiguration(
      stage: .test, layers: [.environment(prefix: "APP", variables: ["APP_NET_LIMIT": secret]), .file(path)])
    func message(_ key: String) throws -> String {
      try #require(throws: ConfigurationError.self) { try configuration.value(for: "Net", key: key, as: Int.self) }
        .description
    }
    #expect(
      try message("Limit")
        == "Net.Limit: the value in stage test, from environment (APP_NET_LIMIT), can't be read as Int. Correct the value there."
    )
    #expect(try message("Port").contains("from file \(path), can't be read as Int"))
  }

  @Test(
    "a key that occurs twice in a file is an error with its path",
    arguments: [
      (#"{"A": {"test": {"k": "1", "k": "2"}}}"#, "A.test.k"), (#"{"A": {"test": {}}, "A": {}}"#, "A"),
      (#"{"A": {"test": {"k": "1", "\u006b" : "{\"k\":"}}}"#, "A.test.k"),
      (#"{"A": {"test": {"k": "1"}, "test": {}}}"#, "A.test"),
    ])
  func duplicateKey(text: String, key: String) throws {
    let path = try write(text)
    let error = try #require(throws: ConfigurationError.self) { try LayeredConfiguration.Layer.file(path) }
    #expect(error.code == .malformedFile)
    #expect(error.description == "\(path): \(key) occurs twice. Remove one of the two.")
  }

  @Test("the same key in several objects, and text that looks like a key, are no duplicates")
  func noDuplicate() throws {
    let path = try write(#"{"A": {"test": {"k": "k\": \\", "l": "{\"l\":1,"}, "beta": {"k": "2"}}, "k": {}}"#)
    let configuration = try LayeredConfiguration(stage: .test, layers: [.file(path)])
    #expect(configuration.value(for: "A", key: "k") == "k\": \\")
  }

  #if os(macOS) || os(Linux)
    @Test("two keys with the same variable stop the program with both names")
    func sharedVariable() async throws {
      let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = LayeredConfiguration(
          stage: .test,
          layers: [
            .memory(["Crash": [.test: ["ApiKey": "own"]]]), .environment(prefix: "APP"),
            .memory(["CrashApi": [.production: ["Key": "own"]]]),
          ])
      }
      let message = text(result.standardErrorContent)
      #expect(message.contains("Crash.ApiKey and CrashApi.Key have the same environment variable, APP_CRASH_API_KEY"))
      #expect(message.contains("LayeredConfigurationTests.swift"))
    }
  #endif

  @Test("the description, the mirror and a dump show no secrets, and neither does a sequence")
  func secrets() throws {
    let configuration = LayeredConfiguration(
      stage: .test,
      layers: [
        .environment(prefix: "APP", variables: ["APP_CRASH_API_KEY": secret]),
        .memory(["Crash": [.test: ["ApiKey": secret]]]),
      ])
    let launch = try LaunchSequence(configuration: configuration) { Do { _ in } }
    for shown: Any in [configuration, launch] {
      var dumped = ""
      dump(shown, to: &dumped)
      #expect(!dumped.contains(secret))
      #expect(!String(describing: shown).contains(secret))
      #expect(!String(reflecting: shown).contains(secret))
    }
    let error = #expect(throws: ConfigurationError.self) {
      try configuration.value(for: "Crash", key: "ApiKey", as: Int.self)
    }
    #expect(error.map { !"\($0)".contains(secret) && !String(reflecting: $0).contains(secret) } == true)
  }

  @Test("an explanation names the layer that a value comes from, and the layers that it hides")
  func explanation() {
    let configuration = LayeredConfiguration(
      stage: .test,
      layers: [
        .environment(prefix: "APP", variables: [:]), .memory(["Crash": [.test: ["ApiKey": secret]]]),
        .memory(["Crash": [.test: ["ApiKey": ""]]]),
      ])
    #expect(
      configuration.explanation(for: "Crash", key: "ApiKey") == """
        Crash.ApiKey = •••, stage test
          environment: –  (APP_CRASH_API_KEY)
          memory: •••  ← used
          memory: (empty)
        """)
  }

  private func write(_ text: String) throws -> String {
    try folder.write(text, to: "configuration.json")
    return folder.path(of: "configuration.json")
  }
}
