/// What one call of ``InitializerRegistry/trace(_:)`` resolved, as a tree: who asked for what, which values were made and
/// which were kept, and how long each took.
///
/// ```swift
/// let (checkout, trace) = try registry.trace { try registry.resolve(Checkout.self) }
/// print(trace)
/// // Checkout: made in 1.2 ms, registered at Shop/Services.swift:12
/// //   Network: made in 1.1 ms, registered at Shop/Services.swift:9
/// //     Clock: kept, registered at Shop/Services.swift:8
/// ```
public struct ResolutionTrace: Sendable, CustomStringConvertible {
  /// One request.
  public struct Step: Sendable {
    /// The type that was asked for, with the place of its key if it was asked for by one.
    public let service: String
    /// Where the registration that served it is written, as `Module/File.swift:line`.
    public let place: String
    /// Whether its initializer ran; if not, its value was kept or was registered as an instance.
    public let isMade: Bool
    /// How long it took, what it asked for included.
    public let duration: Duration
    /// What its initializer asked for, in that order.
    public let steps: [Step]
  }

  /// What was asked for directly, in that order.
  public let steps: [Step]

  /// The tree, a line for each request, those of an initializer indented below it.
  public var description: String { Self.lines(of: steps, indentation: "").joined(separator: "\n") }

  private static func lines(of steps: [Step], indentation: String) -> [String] {
    steps.flatMap { step in
      let fact = step.isMade ? "made in \(step.duration)" : "kept"
      return ["\(indentation)\(step.service): \(fact), registered at \(step.place)"]
        + lines(of: step.steps, indentation: indentation + "  ")
    }
  }

  /// What is noted while it happens, by the one thread that is traced.
  final class Recording {
    private var steps: [Step] = []
    private var isMade = false

    var trace: ResolutionTrace { ResolutionTrace(steps: steps) }

    /// Notes that the initializer of the request under way runs.
    func noteInitializer() { isMade = true }

    /// Notes a request; what is asked for in `body` becomes its steps.
    func note<Value>(
      _ registration: RegistrationStorage, _ body: () throws(InjectionError) -> Value
    ) throws(InjectionError) -> Value {
      let (outerSteps, outerIsMade, start) = (steps, isMade, ContinuousClock.now)
      (steps, isMade) = ([], false)
      defer {
        let step = Step(
          service: registration.service.name, place: registration.place.description, isMade: isMade,
          duration: ContinuousClock.now - start, steps: steps)
        (steps, isMade) = (outerSteps + [step], outerIsMade)
      }
      return try body()
    }
  }
}

extension InitializerRegistry {
  /// Runs `body` with this registry as the current one, and notes what is resolved in it on the calling thread.
  ///
  /// For finding out what a value needs and what takes long; a traced request costs microseconds more. What is traced
  /// inside a `body` that is traced is noted there alone.
  ///
  /// - Parameter body: What to trace.
  /// - Returns: What `body` returned, and the tree of requests.
  public func trace<Result>(_ body: () throws -> Result) rethrows -> (result: Result, trace: ResolutionTrace) {
    let (thread, recording) = (ThreadState.current, ResolutionTrace.Recording())
    let outer = thread.fields.trace
    thread.fields.trace = recording
    defer { thread.fields.trace = outer }
    let result = try run(body)
    return (result, recording.trace)
  }
}
