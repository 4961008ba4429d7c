#if canImport(SwiftUI)
  public import SwiftUI

  extension Preference.Projection {
    /// The preference as a SwiftUI binding, through which a control reads and sets the value.
    ///
    /// When this process or another changes the value, views whose `body` reads the binding are updated, because the
    /// Observation framework tracks the read.
    public var binding: Binding<Value> {
      let origin = origin
      return Binding(get: { origin.latest.value }, set: { origin.latest.set($0) })
    }
  }
#endif

#if canImport(Combine)
  public import Combine
  internal import Dispatch
  internal import PreferenceStorage
  internal import Support

  extension Preference.Projection {
    /// A Combine publisher of the current value and each later value, set by this process or another.
    ///
    /// The first value is published as soon as the subscriber demands it. Later values are published on the main queue.
    /// A slow subscriber may miss values, but gets the latest value. No two consecutive values are equal.
    public var publisher: PreferencePublisher<Value> {
      PreferencePublisher(cache: cache) { DispatchQueue.main.async(execute: $0) }
    }

    /// Returns a publisher of the preference's values that uses the given scheduler instead of the main queue.
    ///
    /// Each value except the first is published on the scheduler. For everything else, see `publisher`.
    public func publisher(on scheduler: some Scheduler & Sendable) -> PreferencePublisher<Value> {
      PreferencePublisher(cache: cache) { scheduler.schedule($0) }
    }
  }

  /// A Combine publisher of the values of a preference.
  public struct PreferencePublisher<Value: Codable & Sendable>: Publisher {
    /// The type of the preference's values.
    public typealias Output = Value
    /// The publisher never fails, because a value that can't be read is published as the default.
    public typealias Failure = Never

    let cache: PreferenceCache<Value>
    let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Starts a subscription, which publishes the first value when the subscriber demands a value.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
      subscriber.receive(
        subscription: PreferenceSubscription(of: cache, schedule: schedule) { subscriber.receive($0) })
    }
  }

  /// A subscription that delivers values as the subscriber demands them.
  ///
  /// `@unchecked Sendable`: the lock `state` guards everything that changes except `values`. Only one thread at a time
  /// uses `values` and `deliver`: first the thread that sets `hasBegun` under the lock, and then the task that this
  /// thread starts under the lock. While the task waits for a block on the scheduler, only this block uses `deliver`.
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
    /// A closure that delivers a value to the subscriber, and returns how many more values the subscriber demands.
    private let deliver: (Value) -> Subscribers.Demand
    private let state = Lock(State())

    init(
      of cache: PreferenceCache<Value>, schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
      deliver: @escaping (Value) -> Subscribers.Demand
    ) {
      values = PreferenceValues(cache: cache).makeAsyncIterator()
      (self.schedule, self.deliver) = (schedule, deliver)
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

    /// Waits until the subscriber demands a value; returns false if the subscription was canceled.
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
