#if canImport(SwiftUI)
  public import SwiftUI

  extension Preference.Projection {
    /// The preference as a SwiftUI binding: a control reads it and assigns it.
    ///
    /// A view whose `body` reads the binding is updated when the value changes, in this process or another: the read is tracked by the
    /// Observation framework.
    public var binding: Binding<Value> {
      let cache = cache
      return Binding(get: { cache.value }, set: { cache.set($0) })
    }
  }
#endif

#if canImport(Combine)
  public import Combine
  internal import Dispatch
  internal import PreferenceStorage
  internal import Support

  extension Preference.Projection {
    /// The preference as a Combine publisher: the value now, then each value it changes to, in this process or another.
    ///
    /// The first value is published within the subscription, later ones on the main queue. A slow subscriber gets the latest
    /// value instead of all those between. No two values in a row are equal.
    public var publisher: PreferencePublisher<Value> {
      PreferencePublisher(cache: cache) { DispatchQueue.main.async(execute: $0) }
    }

    /// Returns a Combine publisher of the preference, whose later values are published by a scheduler.
    public func publisher(on scheduler: some Scheduler & Sendable) -> PreferencePublisher<Value> {
      PreferencePublisher(cache: cache) { scheduler.schedule($0) }
    }
  }

  /// Publishes the values of a preference.
  public struct PreferencePublisher<Value: Codable & Sendable>: Publisher {
    /// The preference's values.
    public typealias Output = Value
    /// A preference that can't be read publishes its default.
    public typealias Failure = Never

    let cache: PreferenceCache<Value>
    let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Begins a subscription; the first value is published when the subscriber demands one.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
      subscriber.receive(
        subscription: PreferenceSubscription(of: cache, schedule: schedule) { subscriber.receive($0) })
    }
  }

  /// Hands values on as they are demanded.
  ///
  /// `@unchecked Sendable`: the lock `state` guards all that changes but `values`. One thread at a time uses it and `deliver`:
  /// the thread that sets `hasBegun` under the lock; then the task, which that thread starts under the lock when it is done;
  /// and, while the task is suspended, the scheduler's block, which resumes it.
  private final class PreferenceSubscription<Value: Codable & Sendable>: Subscription, @unchecked Sendable {
    private struct State: Sendable {
      var demand = Subscribers.Demand.none
      var hasBegun = false
      var isCancelled = false
      var task: Task<Void, Never>?
      var waiting: CheckedContinuation<Void, Never>?
    }

    private var values: PreferenceValues<Value>.Iterator
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Hands a value to the subscriber; the result is how many more it wants.
    private let deliver: (Value) -> Subscribers.Demand
    private let state = Lock(State())

    init(
      of cache: PreferenceCache<Value>, schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
      deliver: @escaping (Value) -> Subscribers.Demand
    ) {
      values = PreferenceValues(cache: cache).makeAsyncIterator()
      self.schedule = schedule
      self.deliver = deliver
    }

    func request(_ demand: Subscribers.Demand) {
      let (isFirst, waiting) = state.withLock { state in
        state.demand += demand
        let isFirst = !state.hasBegun && !state.isCancelled && state.demand > 0
        if isFirst { state.hasBegun = true }
        return (isFirst, state.waiting.take())
      }
      waiting?.resume()
      guard isFirst else { return }
      publish(values.begin())
      state.withLock { state in
        if !state.isCancelled { state.task = Task { await self.publishChanges() } }
      }
    }

    func cancel() {
      let (task, waiting) = state.withLock { state in
        state.isCancelled = true
        return (state.task.take(), state.waiting.take())
      }
      task?.cancel()
      waiting?.resume()
    }

    private func publishChanges() async {
      while await isDemanded(), let value = await values.next() {
        await withCheckedContinuation { continuation in
          schedule {
            self.publish(value)
            continuation.resume()
          }
        }
      }
    }

    private func publish(_ value: Value) {
      let isWanted = state.withLock { state in
        if state.isCancelled { return false }
        state.demand -= 1
        return true
      }
      guard isWanted else { return }
      let more = deliver(value)
      state.withLock { $0.demand += more }
    }

    /// Waits until a value is demanded; false if the subscription was cancelled.
    private func isDemanded() async -> Bool {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          if state.demand > 0 || state.isCancelled { return true }
          state.waiting = continuation
          return false
        }
        if isDue { continuation.resume() }
      }
      return state.withLock { !$0.isCancelled }
    }
  }
#endif
