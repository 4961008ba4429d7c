#if canImport(Combine)
  public import Combine
  internal import Support

  extension Preference.Projection {
    /// The preference as a Combine publisher: the value now, then each value it changes to, whoever changes it.
    ///
    /// ```swift
    /// settings.$launches.publisher.receive(on: DispatchQueue.main).sink { print($0) }
    /// ```
    ///
    /// Values come on a thread of the concurrency runtime, so receive them on the main queue in code of the main actor. A slow subscriber gets the latest value instead of all those
    /// between; the subscription ends when it is cancelled.
    public var publisher: PreferencePublisher<Value> { PreferencePublisher(values: values) }
  }

  /// Publishes the values of a preference.
  public struct PreferencePublisher<Value: Codable & Sendable>: Publisher {
    /// The preference's values.
    public typealias Output = Value
    /// A preference that can't be read publishes its default.
    public typealias Failure = Never

    let values: PreferenceValues<Value>

    /// Begins a subscription with a task of its own.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
      subscriber.receive(subscription: PreferenceSubscription(of: values) { subscriber.receive($0) })
    }
  }

  /// Hands values on as they are demanded.
  ///
  /// `@unchecked Sendable`: all that changes is behind the lock `state`; `deliver` is called only by the one task that it
  /// holds, so never by two threads at once, as Combine demands.
  private final class PreferenceSubscription<Value: Codable & Sendable>: Subscription, @unchecked Sendable {
    private struct State: Sendable {
      var task: Task<Void, Never>?
      var demand = Subscribers.Demand.none
      var waiting: CheckedContinuation<Void, Never>?
      var isCancelled = false
    }

    private let values: PreferenceValues<Value>
    /// Hands a value to the subscriber; the result is how many more it wants.
    private let deliver: (Value) -> Subscribers.Demand
    private let state = Lock(State())

    init(of values: PreferenceValues<Value>, deliver: @escaping (Value) -> Subscribers.Demand) {
      self.values = values
      self.deliver = deliver
    }

    func request(_ demand: Subscribers.Demand) {
      let waiting = state.withLock { state in
        state.demand += demand
        if state.task == nil && !state.isCancelled { state.task = Task { await self.run() } }
        return state.waiting.take()
      }
      waiting?.resume()
    }

    func cancel() {
      let (task, waiting) = state.withLock { state in
        state.isCancelled = true
        return (state.task.take(), state.waiting.take())
      }
      task?.cancel()
      waiting?.resume()
    }

    private func run() async {
      var values = values.makeAsyncIterator()
      while await isDemanded(), let value = await values.next(), !isCancelled {
        let more = deliver(value)
        state.withLock { $0.demand += more }
      }
    }

    private var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Takes one of what is demanded, waiting for it; false where the subscription was cancelled.
    private func isDemanded() async -> Bool {
      while !isCancelled {
        let isDemanded = state.withLock { state in
          guard state.demand > 0 else { return false }
          state.demand -= 1
          return true
        }
        if isDemanded { return true }
        await withCheckedContinuation { continuation in
          let isDue = state.withLock { state in
            if state.demand > 0 || state.isCancelled { return true }
            state.waiting = continuation
            return false
          }
          if isDue { continuation.resume() }
        }
      }
      return false
    }
  }
#endif
