import Combine
import Dispatch
import PreferenceSpell
import PreferenceStorage
import SwiftUI

/// The values that a subscriber received, with a method that waits for one.
@MainActor private final class Journal {
  private(set) var values: [Int] = []
  private let stream = AsyncStream<Int>.makeStream()

  func note(_ value: Int) {
    values.append(value)
    stream.continuation.yield(value)
  }

  /// Waits for a value.
  func wait(for value: Int) async throws {
    let stream = stream.stream
    try await soon { for await found in stream where found == value { return } }
  }
}

/// A subscriber that demands a given number of values.
private final class Reader: Subscriber {
  let onValue: (Int) -> Void
  var subscription: (any Subscription)?

  init(_ onValue: @escaping (Int) -> Void) { self.onValue = onValue }
  func receive(subscription: any Subscription) { self.subscription = subscription }
  func receive(_ value: Int) -> Subscribers.Demand {
    onValue(value)
    return .none
  }
  func receive(completion: Subscribers.Completion<Never>) {}
}

@MainActor func checkPublisher() async {
  await check("a publisher gives the first value at once, and later ones to main-actor closures") {
    let preference = Preference("n", default: 0, store: MemoryPreferenceStore())
    let journal = Journal()
    let subscription = preference.projectedValue.publisher
      .map { (value: Int) -> Int in MainActor.assumeIsolated { journal.values.count * 100 + value } }
      .sink { value in MainActor.assumeIsolated { journal.note(value) } }
    defer { subscription.cancel() }
    guard journal.values == [0] else { return false }
    try await Task.detached { try preference.set(1) }.value
    try await journal.wait(for: 101)
    preference.value = 2
    try await journal.wait(for: 202)
    return journal.values == [0, 101, 202]
  }
  await check("a publisher's later values come by the scheduler that it is given") {
    let preference = Preference("n", default: 0, store: MemoryPreferenceStore())
    let (queue, key, journal) = (DispatchQueue(label: "driver"), DispatchSpecificKey<Int>(), Journal())
    queue.setSpecific(key: key, value: 7)
    let subscription = preference.projectedValue.publisher(on: queue)
      // Without `@Sendable`, the closure would belong to the main actor.
      .map { @Sendable (value: Int) -> Int in value == 0 ? 0 : DispatchQueue.getSpecific(key: key) ?? -1 }
      .receive(on: DispatchQueue.main)
      .sink { value in MainActor.assumeIsolated { journal.note(value) } }
    defer { subscription.cancel() }
    preference.value = 1
    try await journal.wait(for: 7)
    return true
  }
  await check("a publisher waits for demand, and then gives the latest value, once") {
    let preference = Preference("n", default: 0, store: MemoryPreferenceStore())
    let journal = Journal()
    let reader = Reader { value in MainActor.assumeIsolated { journal.note(value) } }
    preference.projectedValue.publisher.receive(subscriber: reader)
    guard journal.values.isEmpty else { return false }
    reader.subscription?.request(.max(1))
    guard journal.values == [0] else { return false }
    for value in 1...5 { preference.value = value }
    // This is the value that the subscriber already has, so it isn't sent again.
    preference.value = 0
    reader.subscription?.request(.max(1))
    preference.value = 6
    try await journal.wait(for: 6)
    reader.subscription?.cancel()
    return journal.values == [0, 6]
  }
  await check("a subscription that was cancelled gives no value") {
    let preference = Preference("n", default: 0, store: MemoryPreferenceStore())
    let (cancelled, other) = (Journal(), Journal())
    let subscription = preference.projectedValue.publisher
      .sink { value in MainActor.assumeIsolated { cancelled.note(value) } }
    let witness = preference.projectedValue.publisher
      .sink { value in MainActor.assumeIsolated { other.note(value) } }
    defer { witness.cancel() }
    preference.value = 1
    subscription.cancel()
    try await other.wait(for: 1)
    return cancelled.values == [0]
  }
  await check("a binding reads and assigns the preference") {
    let preference = Preference("n", default: 0, store: MemoryPreferenceStore())
    let binding = preference.projectedValue.binding
    binding.wrappedValue = 3
    return preference.value == 3 && binding.wrappedValue == 3
  }
}
