internal import Support

/// A wrapper that calls the methods of a step's initializer, even if the initializer belongs to the main actor.
///
/// The conformance of a main-actor type to `Initializable` may be isolated to the main actor. Off the main actor, a
/// cast of the initializer to the protocol then fails. The program creates the list of steps on an actor on which the
/// cast succeeds, so `init` makes the casts. `place` casts `value` again, and is the main actor if the cast fails.
///
/// `@unchecked Sendable`: no lock or atomic is needed, because all properties are constants, and the initializer is
/// `Sendable`, as ``Initializable/SendableSelf`` requires.
final class StepWork: @unchecked Sendable {
  private let initializer: any Initializable
  private let running: (any RunningInitializer)?
  private let ready: (any ReadyInitializer)?
  /// The initializer if it is an actor.
  private let actor: (any Actor)?
  /// The closure to call instead of `perform`, for a step that is created from closures; nil for other steps.
  ///
  /// The closure runs on the caller's actor, unlike a call to `perform` through the protocol.
  private let body: Perform?
  /// The initializer as `Any`, for a cast that checks whether its conformance is available on the current actor.
  private let value: Any

  init(_ initializer: any Initializable, runs: Bool = true, body: Perform? = nil) {
    (self.initializer, value, self.body) = (initializer, initializer, body)
    running = runs ? initializer as? any RunningInitializer : nil
    ready = running as? any ReadyInitializer
    // Only a class can be an actor, and to look for its conformance takes long.
    actor = Swift.type(of: initializer) is any AnyObject.Type ? initializer as? any Actor : nil
  }

  typealias Perform = nonisolated(nonsending) @Sendable (any Configurable) async throws -> Void

  var type: any Any.Type { Swift.type(of: value) }
  /// Whether the step has a service.
  var runs: Bool { running != nil }

  /// The place where the code of a step is called.
  enum Place {
    /// Any actor or none; a method that is isolated changes to its actor by itself.
    case anywhere
    case mainActor
    case actor(any Actor)
  }

  /// The actor of the initializer, if the initializer's type shows which actor that is.
  ///
  /// The type shows it if it is an actor, or if its conformance is isolated to the main actor. On the main actor, such a
  /// conformance can be used anywhere.
  var place: Place {
    if let actor { return .actor(actor) }
    return value is any Initializable ? .anywhere : .mainActor
  }

  /// Calls the code that a job is for; the caller is at the step's ``place``.
  ///
  /// This is the only place that knows which code a kind of job calls.
  ///
  /// - Returns: False if the job was to perform the step again, and the initializer doesn't ask for that.
  nonisolated(nonsending) func call(
    _ job: LaunchMachine.Job, in sequence: LaunchSequence, rollback: (@Sendable () async throws -> Void)?
  ) async throws -> Bool {
    let configuration = sequence.configuration
    switch job.kind {
    case .setUp:
      if job.purpose == .foreground, await !initializer.shouldPerformWhenApplicationEntersForeground() { return false }
      if let body { try await body(configuration) } else { try await initializer.perform(with: configuration) }
    case .ask: return await initializer.shouldPerformWhenApplicationEntersForeground()
    case .rollBack, .lateRollBack: try await rollback?()
    case .run:
      // The service may keep its context for longer than the sequence lives.
      let service = RunningService(configuration: configuration) { [weak sequence] in sequence?.handle(.ready(job)) }
      if let ready {
        try await ready.run(service)
      } else {
        service.ready()
        try await running?.run(configuration)
      }
    case .stop: await running?.stop()
    case .shutDown, .undo: try await initializer.shutDown()
    // Only the services of the attempt are closed.
    case .close: break
    }
    return true
  }
}

extension LaunchStep {
  /// Creates a step from closures.
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
  ///   - id: The ID of the step.
  ///   - perform: A closure that sets something up, and returns the value that is passed to the other closures.
  ///   - run: A closure that runs a service until its task is canceled; nil for a step without a service.
  ///   - shutDown: A closure that undoes what `perform` set up.
  public init<Value: Sendable>(
    _ id: String, perform: @escaping @Sendable (_ configuration: any Configurable) async throws -> Value,
    run: (@Sendable (Value) async throws -> Void)? = nil,
    shutDown: @escaping @Sendable (Value) async throws -> Void = { _ in }
  ) {
    let closures = ClosureInitializer(perform, run, shutDown)
    self.init(work: StepWork(closures, runs: run != nil, body: closures.performHere), id: id)
  }
}

/// An initializer that calls the closures of a step.
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
