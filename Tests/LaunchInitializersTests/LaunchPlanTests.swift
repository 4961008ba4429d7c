import LaunchInitializers
import Testing

@Suite("Plans") struct LaunchPlanTests {
  private func plan(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> [String] {
    let launch = try LaunchSequence(steps)
    return launch.description.dropFirst("LaunchSequence(".count).dropLast().split(separator: ", ").map(String.init)
  }

  private func mistake(@LaunchBuilder _ steps: () -> [LaunchStep]) throws -> LaunchPlanError {
    try #require(throws: LaunchPlanError.self) { try LaunchSequence(steps) }
  }

  private let step = Do { _ in }

  @Test("steps keep the listed order, and move back only as far as necessary")
  func order() throws {
    #expect(
      try plan {
        step.id("ui").after("db", "log")
        step.id("a")
        step.id("db").after("log")
        step.id("log")
        step.id("b")
      } == ["a", "log", "db", "ui", "b"])
    #expect(
      try plan {
        step.id("c").after("b")
        step.id("b").after("a")
        step.id("a")
        step.id("d").after()
      } == ["a", "b", "c", "d"])
  }

  @Test("a step can run before a step that is listed earlier")
  func before() throws {
    #expect(
      try plan {
        step.id("a")
        step.id("b")
        step.id("first").before("a")
      } == ["first", "a", "b"])
  }

  @Test("a step without an id has its type's name, with a number if there are several")
  func typeNames() throws {
    struct Other: Initializable { func perform(with configuration: any Configurable) {} }
    #expect(
      try plan {
        step
        step.timeout(.seconds(1))
        Other()
        step.id("Do #3")
        step
      } == ["Do", "Do #2", "Other", "Do #3", "Do #4"])
    #expect(
      try plan {
        step.id("late").after("Other")
        Other()
      } == ["Other", "late"])
  }

  @Test("steps can be listed with if, else, for and switch")
  func builder() throws {
    let flag = true
    #expect(
      try plan {
        if flag { step.id("if") } else { step.id("else") }
        if !flag { step.id("never") }
        for number in 1...3 { step.id("for \(number)") }
        switch flag {
        case true: step.id("true")
        case false: step.id("false")
        }
        [step.id("listed")]
      } == ["if", "for 1", "for 2", "for 3", "true", "listed"])
  }

  @Test("a sequence without steps is an error")
  func empty() throws {
    let error = try mistake { for _ in 0..<0 { step } }
    #expect(error.code == .empty)
  }

  @Test("a step that waits for itself is an error")
  func selfDependency() throws {
    let error = try mistake { step.id("a").after("a") }
    #expect(error.code == .cycle)
    #expect(error.path == ["a", "a"])
    #expect(error.description.contains("\"a\" waits for itself"))
    #expect(try mistake { step.id("a").before("a") }.path == ["a", "a"])
    let group = try mistake { LaunchGroup("g") { step }.after("g") }
    #expect(group.path == ["g", "g"])
    #expect(group.description.contains("\"g\" waits for itself"))
  }

  @Test("a cycle is an error with its path")
  func cycle() throws {
    let error = try mistake {
      step.id("free")
      step.id("late").after("b")
      step.id("c").after("b")
      step.id("a").after("c")
      step.id("b").after("a")
    }
    #expect(error.code == .cycle)
    #expect(error.path == ["c", "b", "a", "c"])
    #expect(error.description.contains("c → b → a → c"))
  }

  @Test("the error about a cycle says how to take a step out of the listed order")
  func cycleThroughTheLine() throws {
    let error = try mistake {
      step.id("a")
      step.id("b")
      step.id("x").after("b").before("a")
    }
    #expect(error.path == ["a", "x", "b", "a"])
    #expect(error.description.contains("add .after() to a step that waits because it is listed after another one"))
  }

  @Test("two steps with the same id are an error")
  func duplicates() throws {
    let error = try mistake {
      step.id("same")
      step.id("same")
    }
    #expect(error.code == .duplicateID)
    #expect(error.path == ["same"])
  }

  @Test("a reference to the type name of several steps is an error")
  func ambiguous() throws {
    let error = try mistake {
      step
      step
      step.id("c").after("Do")
    }
    #expect(error.code == .duplicateID)
    #expect(error.description.contains("2 steps without an id"))
  }

  @Test("a reference to a declared id is allowed even if the id is the type name of several other steps")
  func declaredTypeName() throws {
    #expect(
      try plan {
        step
        step
        step.id("Do")
        step.id("first").before("Do")
      } == ["Do #2", "Do #3", "first", "Do"])
    #expect(
      try plan {
        step.id("last").after("Do")
        LaunchGroup("Do") {
          step
          step
        }
      } == ["Do #2", "Do #3", "last"])
  }

  @Test("an unknown id is an error with the closest id")
  func unknown() throws {
    let error = try mistake {
      step.id("logging")
      step.id("b").after("loging")
    }
    #expect(error.code == .unknownDependency)
    #expect(error.path == ["b", "loging"])
    #expect(error.description.contains("Did you mean \"logging\"?"))
    #expect(try mistake { step.id("b").before("zzz") }.description.contains("Give one this id."))
    #expect(try mistake { step.id("log").after("logs") }.description.contains("Give one this id."))
    #expect(
      try mistake { LaunchGroup("logs") { step.id("a").after("log") } }.description.contains("Give one this id."))
  }

  @Test("a cycle of ten thousand steps is an error with the whole path and a short message")
  func longCycle() throws {
    let error = try mistake {
      for number in 0..<10_000 { step.id("\(number)").after("\((number + 1) % 10_000)") }
    }
    #expect(error.path == (0...10_000).map { "\($0 % 10_000)" })
    #expect(error.description.contains("more"))
    #expect(error.description.count < 1_000)
  }

  @Test("groups can be nested very deep")
  func nesting() throws {
    let group = (1..<2_000).reduce(LaunchGroup("0") { Do { _ in }.id("step") }.launchStep) { inner, number in
      LaunchGroup("\(number)") { inner }.launchStep
    }
    let launch = try LaunchSequence(configuration: NoConfiguration()) { group }
    #expect(launch.description == "LaunchSequence(step)")
  }
}
