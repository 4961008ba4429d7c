import PreferenceSpell
import Synchronization
import Testing

/// An object whose deinitializer runs a closure.
private final class Watched: Sendable {
  private let onEnd: @Sendable () -> Void
  init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
  deinit { onEnd() }
}

/// A value whose deinitializer reads a preference.
private final class Reader: Codable, Sendable {
  static let store = MemoryPreferenceStore()
  static let preference = Preference("reader", default: Reader(0), store: store)
  static let key = PreferenceKey("key", default: Reader(0))
  let number: Int

  init(_ number: Int) { self.number = number }
  deinit { _ = Reader.preference.value.number }
}

/// A value that can't be decoded; the error reads the preference when it is released.
private struct Unreadable: Codable, Sendable {
  static let store = MemoryPreferenceStore()
  static let preference = Preference("unreadable", default: Unreadable(), store: store)

  /// Whether a deinitializer reads the preference, which makes another error.
  static let isReading = Atomic(false)

  struct Failure: Error {
    let watched = Watched {
      if Unreadable.isReading.exchange(true, ordering: .relaxed) { return }
      _ = (Unreadable.preference.value, Unreadable.preference.error)
      Unreadable.isReading.store(false, ordering: .relaxed)
    }
  }

  init() {}
  init(from decoder: any Decoder) throws {
    if try decoder.singleValueContainer().decode([String: Int].self)["isSound"] == nil { throw Failure() }
  }
}

@Suite("The deinitializer") struct PreferenceDeinitializerTests {
  @Test("of a replaced value can read the preference")
  func value() {
    for number in 1...100 {
      Reader.preference.value = Reader(number)
      #expect(Reader.preference.value.number == number)
    }
  }

  @Test("of a default that the store discards can read a preference")
  func discardedDefault() throws {
    _ = try Reader.store.value(for: Reader.key)
    for number in 0...10_000 { _ = try Reader.store.value(for: PreferenceKey("other \(number)", default: number)) }
    #expect(Reader.preference.key == "reader")
  }

  @Test("of a store that a constant no longer uses can read the constant")
  func store() {
    let constant = Preference("constant", default: 1)
    func read() {
      let registry = InitializerRegistry()
      registry.register((any PreferenceStore).self) { CustomStore(Watched { _ = constant.value }) }
      registry.run { #expect(constant.value == 1) }
    }
    for _ in 0..<10 { read() }
  }

  @Test("of an error can read the preference that couldn't be read")
  func error() throws {
    for _ in 0..<3 {
      try Unreadable.store.set(["other": 1], forKey: "unreadable")
      _ = Unreadable.preference.value
      Unreadable.preference.value = Unreadable()
      #expect(Unreadable.preference.error?.underlying is Unreadable.Failure)
      Unreadable.preference.reset()
      #expect(Unreadable.preference.error == nil)
    }
  }
}

/// A store without values, which has an object to release.
private final class CustomStore: CustomPreferenceStore {
  let hub = PreferenceHub()
  private let watched: Watched

  init(_ watched: Watched) { self.watched = watched }

  var keys: [String] { [] }
  func json(forKey key: String) -> String? { nil }
  func write(_ changes: [PreferenceChange]) {}
}
