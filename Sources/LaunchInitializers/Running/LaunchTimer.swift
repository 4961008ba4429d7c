#if canImport(Dispatch)
  internal import Dispatch
  internal import Locking
#endif

/// Something to come that can be called off: a timer, a step's task.
protocol Cancellable: Sendable {
  func cancel()
}

extension Task: Cancellable {}

#if canImport(Dispatch)
  /// Calls a closure once, after some time, on a thread that steps can't block.
  ///
  /// All timers are kept on one queue. Each closure has another of its own, and so a thread: one that cancels a step runs
  /// the step's cancellation handlers, which may take long. The time stands still while the machine sleeps.
  final class LaunchTimer: Cancellable {
    private static let queue = DispatchQueue(label: "LaunchInitializers.timers")
    private let source: Lock<any DispatchSourceTimer>

    init(after pause: Duration, _ body: @escaping @Sendable () -> Void) {
      let source = DispatchSource.makeTimerSource(queue: Self.queue)
      source.setEventHandler { DispatchQueue(label: "LaunchInitializers.timer").async(execute: body) }
      // Dispatch takes what is beyond its range for never.
      source.schedule(deadline: .now() + .nanoseconds(pause.nanoseconds), leeway: .milliseconds(1))
      source.resume()
      self.source = Lock(source)
    }

    func cancel() { source.withLock { $0.cancel() } }
  }
#endif
