internal import Support

/// The initializer of a step, called where its conformance belongs.
///
/// The conformance of a main-actor type may belong to the main actor: only code there may use it, also for a cast. So all
/// casts are made where the step is listed, and a call runs on the main actor if a cast fails on its own executor.
///
/// `@unchecked Sendable`: nothing changes after `init`, so there is neither lock nor atomic, and what is stored is an
/// initializer, which is `Sendable`: ``Initializable/SendableSelf`` says so.
final class StepWork: @unchecked Sendable {
  private let initializer: any Initializable
  private let running: (any RunningInitializer)?
  private let ready: (any ReadyInitializer)?
  /// In place of `perform`, for a step of closures: it runs on the caller's actor, which a requirement can't say.
  private let body: Body?
  /// The initializer without its conformance.
  private let value: Any

  init(_ initializer: any Initializable, runs: Bool = true, body: Body? = nil) {
    (self.initializer, value, self.body) = (initializer, initializer, body)
    running = runs ? initializer as? any RunningInitializer : nil
    ready = running as? any ReadyInitializer
  }

  typealias Body = nonisolated(nonsending) @Sendable (any Configurable) async throws -> Void

  var type: any Any.Type { Swift.type(of: value) }
  /// Whether the step has a service.
  var runs: Bool { running != nil }

  enum Call: Sendable {
    case perform(any Configurable)
    /// Performs the step if it asks for that at the foreground.
    case performAgain(any Configurable)
    case run(RunningService)
    case stop, shutDown
  }

  /// Calls the initializer; returns false if there was nothing to do.
  nonisolated(nonsending) func call(_ call: Call) async throws -> Bool {
    value is any Initializable ? try await callHere(call) : try await callOnMainActor(call)
  }

  @MainActor private func callOnMainActor(_ call: Call) async throws -> Bool { try await callHere(call) }

  private nonisolated(nonsending) func callHere(_ call: Call) async throws -> Bool {
    switch call {
    case .perform(let configuration):
      if let body { try await body(configuration) } else { try await initializer.perform(with: configuration) }
    case .performAgain(let configuration):
      guard await initializer.shouldPerformWhenApplicationEntersForeground() else { return false }
      try await initializer.perform(with: configuration)
    case .run(let service):
      if let ready {
        try await ready.run(service)
      } else {
        service.ready()
        try await running?.run(service.configuration)
      }
    case .stop: await running?.stop()
    case .shutDown: try await initializer.shutDown()
    }
    return true
  }
}

extension LaunchStep {
  /// Creates a step of closures.
  ///
  /// ```swift
  /// LaunchStep("cache") { configuration in
  ///   try await Cache.open()
  /// } shutDown: { cache in
  ///   try await cache.close()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - id: The id of the step.
  ///   - perform: Sets the thing up, and returns what the other closures get.
  ///   - run: Runs a service until its task is cancelled, as ``RunningInitializer/run(_:)`` does; nil if there is none.
  ///   - shutDown: Undoes what `perform` set up.
  public init<Value: Sendable>(
    _ id: String, perform: @escaping @Sendable (_ configuration: any Configurable) async throws -> Value,
    run: (@Sendable (Value) async throws -> Void)? = nil,
    shutDown: @escaping @Sendable (Value) async throws -> Void = { _ in }
  ) {
    let closures = ClosureInitializer(perform, run, shutDown)
    self.init(work: StepWork(closures, runs: run != nil, body: closures.performHere), id: id)
  }
}

/// The initializer of a step of closures.
private final class ClosureInitializer<Value: Sendable>: RunningInitializer, Sendable {
  typealias Body = @Sendable (Value) async throws -> Void

  private let up: @Sendable (any Configurable) async throws -> Value
  private let (body, down): (Body?, Body)
  private let value = Lock<Value?>(nil)

  init(_ up: @escaping @Sendable (any Configurable) async throws -> Value, _ body: Body?, _ down: @escaping Body) {
    (self.up, self.body, self.down) = (up, body, down)
  }

  nonisolated(nonsending) func performHere(with configuration: any Configurable) async throws {
    let new = try await up(configuration)
    value.withLock { $0 = new }
  }

  func run(_ configuration: any Configurable) async throws {
    if let value = value.withLock(\.self) { try await body?(value) }
  }
  func shutDown() async throws { if let value = value.withLock(\.self) { try await down(value) } }
}
