import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private struct Refusal: Error {}

private final class Form {
  @Lazy var service: Service
}

private final class Hidden: CustomReflectable {
  @Lazy var service: Service
  var customMirror: Mirror { Mirror(self, children: []) }
}

@Suite("A read that fails", .registry, .timeLimit(.hang)) struct FailureTests {
  private var registry: InitializerRegistry { .current }

  @Test("a read with nothing registered throws through resolve")
  func withNothingRegisteredThrowsThroughResolve() throws {
    let form = Form()
    let error = try #require(throws: InjectionError.self) { try form.$service.resolve() }
    #expect(error.code == .notRegistered)
    #expect(error.path == ["Service"])
    #expect(error.description.contains("Form.service"))
    #expect(error.description.contains("FailureTests.swift:"))
    #expect(!form.$service.hasValue)
  }

  @Test("a read with nothing registered stops the program with the name, the type and what to do")
  func withNothingRegisteredStopsTheProgramWithTheNameTheTypeAndWhatToDo() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Form().service
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("No initializer is registered for Service for Form.service"))
    #expect(message.contains("registry.register(Service.self) { … }"))
    #expect(message.contains("FailureTests.swift"))
  }

  @Test("a read in a struct stops the program with the place")
  func inAStructStopsTheProgramWithThePlace() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Plain { @Lazy var service: Service }
      _ = Plain().service
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("No initializer is registered for Service"))
    #expect(message.contains("FailureTests.swift:"))
  }

  @Test("a read throws the initializer's error, and the next read tries again")
  func throwsWhatTheInitializerThrewAndTriesAgainAtTheNextRead() throws {
    let attempts = Counter()
    registry.register(Service.self) {
      if attempts.increment() < 3 { throw Refusal() }
      return Service("third")
    }
    let form = Form()
    for _ in 1...2 {
      let error = try #require(throws: InjectionError.self) { try form.$service.resolve() }
      #expect(error.code == .initializerFailed)
      #expect(error.underlying is Refusal)
      #expect(!form.$service.hasValue)
    }
    #expect(form.service.label == "third")
    #expect(attempts.value == 3)
  }

  @Test("a read with a throwing initializer stops the program with the error and both places")
  func withAThrowingInitializerStopsTheProgramWithTheErrorAndBothPlaces() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      InitializerRegistry.shared.register(Service.self) { throw Refusal() }
      _ = Form().service
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Form.service"))
    #expect(message.contains("threw Refusal()"))
    #expect(message.contains("registered at LazySpellTests/FailureTests.swift:"))
    #expect(message.contains("try $service.resolve()"))
  }

  @Test("a protocol's property with nothing registered advises an expression that compiles")
  func ofAProtocol() throws {
    final class Page { @Lazy var refusal: any Error & CustomStringConvertible }
    let error = try #require(throws: InjectionError.self) { try Page().$refusal.resolve() }
    #expect(error.description.contains("@Lazy var refusal: any CustomStringConvertible & Error = …"), "\(error)")
  }

  @Test("a read reports the whole path to the missing type")
  func tellsTheWholePathToTheTypeThatIsMissing() throws {
    struct Clock {}
    registry.register(Service.self) { Service("\(try $0.resolve(Clock.self))") }
    let error = try #require(throws: InjectionError.self) { try Form().$service.resolve() }
    #expect(error.code == .notRegistered)
    #expect(error.path == ["Service", "Clock"])
  }

  @Test("a value without a hook and an observer is created without notifying")
  func needsNoHookAndNoObserver() {
    final class Watching: InjectionObserver {
      var heard = 0
      @Lazy var service: Service
      func didInject(_ value: Any, intoProperty name: String) { heard += 1 }
    }
    registry.register(Service.self) { throw Refusal() }
    let watching = Watching()
    #expect(throws: InjectionError.self) { try watching.$service.resolve() }
    #expect(watching.heard == 0)
  }

  @Test("a read names no property if reflection shows none")
  func saysSoWhereReflectionShowsNoName() throws {
    let error = try #require(throws: InjectionError.self) { try Hidden().$service.resolve() }
    #expect(error.description.contains("Hidden.(unnamed"))
  }

  @Test("a read on the wrong actor throws")
  func onTheWrongActorThrows() async throws {
    registry.register(Service.self, .onMainActor { _ in Service() })
    let error = try #require(throws: InjectionError.self) { try Form().$service.resolve() }
    #expect(error.code == .wrongIsolation)
    await MainActor.run {
      let form = Form()
      #expect(throws: Never.self) { try form.$service.resolve() }
    }
  }
}
