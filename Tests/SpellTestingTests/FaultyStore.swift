import Foundation
import PreferenceStorage
import Synchronization

/// The faults that a store can have, each of which a check has to find.
enum Fault: String, CaseIterable, Sendable {
  case misreadsLargeIntegers = "keeps Booleans and integers exactly"
  case ignoresNaN = "keeps floating-point numbers to the last bit"
  case cutsStringsAtNUL = "keeps strings byte for byte"
  case roundsDates = "keeps dates and data exactly"
  case dropsNestedValues = "keeps values within values"
  case ignoresNil = "keeps nil by removing the key"
  case dropsMismatches = "throws a type mismatch, and keeps the value"
  case forgivesWhatCantBeEncoded = "refuses what can't be encoded, and keeps the value"
  case neverOverwrites = "lets an overwritten value go, whatever its type"
  case sortsKeysByName = "sorts keys by first writing"
  case foldsKeys = "takes any key of 1 to 65,536 bytes"
  case takesInvalidKeys = "refuses an empty key and one that is too long"
  case neverRemoves = "removes the value of one key"
  case removesAllButOne = "removes all values"
  case forgetsOnReload = "has everything after it was reloaded and synchronized"
  case runsBodiesTwice = "runs a transaction's body once, and gives back its result"
  case isBlindInTransactions = "shows a transaction its own writes, which no other reader sees before it ends"
  case keepsWhatFailed = "changes nothing where a transaction's body throws"
  case bringsBackWhatWasRemoved = "removes and moves in a transaction"
  case dropsNestedWrites = "refuses a write from within a transaction"
  case dropsEverySeventhTransaction = "loses no increment that tasks make side by side"
  case tellsNothing = "tells each key that changed"
  case tellsOfEqualValues = "says nothing of a value that is set to what it is"
  case tellsOfFailedTransactions = "says nothing of what a failed transaction did"
  case hasOneListener = "tells each listener by itself"
  case tellsOfAKeyOnce = "tells of a change when its value can be read"
  case opensEmpty = "has its values when it is opened again"
  case opensWithWhatFailed = "has what its transactions changed when it is opened again, and nothing of one that failed"
  case opensWithWhatWasRemoved = "has nothing when it is opened again after all was removed"

  /// The name of the check that finds the fault.
  var check: String { rawValue }
}

/// A store with one fault, which otherwise passes everything on to a store in memory.
final class FaultyStore: PreferenceStore {
  private let fault: Fault?
  private let store = MemoryPreferenceStore()
  private let hub = PreferenceHub()
  private let shared: PreferenceChanges
  private let isInTransaction = Atomic(false)
  private let transactions = Atomic(0)
  private let told = Mutex<Set<String>>([])

  init(_ fault: Fault?) {
    self.fault = fault
    shared = store.changes()
  }

  var keys: [String] { fault == .sortsKeysByName ? store.keys.sorted() : store.keys }

  func value<Value: Codable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    if fault == .isBlindInTransactions && isInTransaction.load(ordering: .relaxed) { return nil }
    do throws(PreferenceError) {
      let value = try store.value(type, forKey: written(key))
      if fault == .misreadsLargeIntegers, value as? UInt64 == .max { return nil }
      return value
    } catch {
      if fault == .dropsMismatches && error.code == .typeMismatch { try store.removeValue(forKey: key) }
      throw error
    }
  }

  func json(forKey key: String) throws(PreferenceError) -> String? { store.json(forKey: key) }

  func set<Value: Codable>(_ value: Value, forKey key: String) throws(PreferenceError) {
    switch fault {
    case .ignoresNaN where (value as? Double)?.isNaN == true: return
    case .dropsNestedValues where value is [[[Int]]]: return
    case .ignoresNil where isNil(value): return
    case .neverOverwrites where store.keys.contains(key): return
    case .dropsNestedWrites where isInTransaction.load(ordering: .relaxed): return
    case .cutsStringsAtNUL:
      if let string = value as? String {
        return try store.set(string.prefix { $0 != "\u{0}" }.description, forKey: key)
      }
    case .roundsDates:
      if let date = value as? Date {
        return try store.set(
          Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded()), forKey: key)
      }
    default: break
    }
    do throws(PreferenceError) { try store.set(value, forKey: written(key)) } catch {
      if fault == .forgivesWhatCantBeEncoded && error.code == .invalidValue { return }
      throw error
    }
    tell(key)
  }

  func removeValue(forKey key: String) throws(PreferenceError) {
    if fault == .neverRemoves { return }
    try store.removeValue(forKey: key)
    tell(key)
  }

  func removeAll() throws(PreferenceError) {
    let last = store.keys.last
    try store.removeAll()
    if fault == .removesAllButOne, let last { try store.set(1, forKey: last) }
  }

  func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
    var failure: (any Error)?
    var result: Result?
    let number = transactions.add(1, ordering: .relaxed).newValue
    do {
      try store.transaction { changes in
        isInTransaction.store(true, ordering: .relaxed)
        defer { isInTransaction.store(false, ordering: .relaxed) }
        let before = changes.keys
        if fault == .runsBodiesTwice { _ = try body(&changes) }
        do { result = try body(&changes) } catch {
          failure = error
          if fault != .keepsWhatFailed { throw error }
        }
        if fault == .dropsEverySeventhTransaction && number % 7 == 0 { throw Dropped() }
        if fault == .bringsBackWhatWasRemoved {
          for key in Set(before).subtracting(changes.keys) { try changes.set("back", forKey: key) }
        }
      }
    } catch is Dropped {
    } catch {
      if fault == .tellsOfFailedTransactions { hub.tell(["a"]) }
      throw error
    }
    if let failure { throw failure }
    return result!
  }

  func changes() -> PreferenceChanges {
    switch fault {
    case .tellsNothing: MemoryPreferenceStore().changes()
    case .hasOneListener: shared
    case .tellsOfEqualValues, .tellsOfFailedTransactions, .tellsOfAKeyOnce: hub.changes()
    default: store.changes()
    }
  }

  func reload() throws(PreferenceError) {
    if fault == .forgetsOnReload { try store.removeAll() }
    try store.reload()
  }

  func synchronize() throws(PreferenceError) { try store.synchronize() }

  /// Returns a store that opens the values of this store.
  func reopened() throws -> any PreferenceStore {
    switch fault {
    case .opensEmpty: return MemoryPreferenceStore()
    case .opensWithWhatFailed: try store.set(3, forKey: "d")
    case .opensWithWhatWasRemoved: try store.set(1, forKey: "a")
    default: break
    }
    return store
  }

  private struct Dropped: Error {}

  private func written(_ key: String) -> String {
    switch fault {
    case .foldsKeys: key.lowercased()
    case .takesInvalidKeys: "valid"
    default: key
    }
  }

  private func tell(_ key: String) {
    if fault == .tellsOfAKeyOnce && !told.withLock({ $0.insert(key).inserted }) { return }
    hub.tell([key])
  }

  private func isNil<Value>(_ value: Value) -> Bool {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional && mirror.children.isEmpty
  }
}
