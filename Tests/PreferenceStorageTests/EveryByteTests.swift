import PreferenceStorage
import TestSupport
import Testing

/// Tests that take seconds, and therefore yield often, because tests of other suites may wait for the thread.
@Suite("Damage at every byte", .timeLimit(.hang)) struct EveryByteTests {
  static let path: FilePath = "/folder/store.preferences"

  /// Returns a file with the records `k0`, `k1`, …, `k19`, `k0`, …, and the end of each of its lines without the
  /// newline.
  static func makeFile(records: Int) throws -> (bytes: [UInt8], ends: [Int]) {
    let disk = SimulatedDisk()
    let store = try FilePreferenceStore(path: path, system: disk)
    for number in 0..<records { try store.set(number, forKey: "k\(number % 20)") }
    let bytes = try #require(disk.contents(of: path))
    let newlines = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
    return (bytes, Array(newlines.dropFirst()))
  }

  /// Returns the values of the records.
  func state(_ records: some Sequence<Int>) -> [String: Int] {
    var state: [String: Int] = [:]
    for number in records { state["k\(number % 20)"] = number }
    return state
  }

  func state(of store: FilePreferenceStore) throws -> [String: Int] {
    var state: [String: Int] = [:]
    for key in store.keys { state[key] = try store.value(Int.self, forKey: key) }
    return state
  }

  /// Expects that after a write, a reopened store finds no damage and no loss.
  func expectSound(_ store: FilePreferenceStore, on disk: SimulatedDisk, _ comment: Comment) throws {
    try store.set(-1, forKey: "after")
    let again = try FilePreferenceStore(path: EveryByteTests.path, system: disk)
    #expect(again.recovery == nil, comment)
    #expect(again.json() == store.json(), comment)
  }

  @Test("a file cut short at any byte keeps every record before it")
  func truncation() async throws {
    let (bytes, ends) = try EveryByteTests.makeFile(records: repetitions(debug: 25, release: 200))
    for length in 0...bytes.count {
      await Task.yield()
      let disk = SimulatedDisk(Array(bytes.prefix(length)), at: EveryByteTests.path)
      let store = try FilePreferenceStore(path: EveryByteTests.path, system: disk)
      let whole = ends.count { $0 <= length }
      #expect(try state(of: store) == state(0..<whole), "cut at \(length)")
      try expectSound(store, on: disk, "cut at \(length)")
    }
  }

  @Test("a file with any one bit flipped keeps every other record")
  func bitFlips() async throws {
    let records = repetitions(debug: 10, release: 50)
    let (bytes, ends) = try EveryByteTests.makeFile(records: records)
    for index in bytes.indices {
      await Task.yield()
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        let disk = SimulatedDisk(damaged, at: EveryByteTests.path)
        let comment: Comment = "byte \(index), bit \(bit)"
        let store = try FilePreferenceStore(path: EveryByteTests.path, system: disk)
        // A flipped newline also damages the next line. A line that is still JSON counts as it is, like an edit by
        // hand.
        if let line = store.recovery?.editedLines.first {
          #expect(store.recovery?.editedLines == [line] && index >= 15, comment)
          try expectSound(store, on: disk, comment)
          continue
        }
        let record = ends.count { $0 < index }
        let lost = index < 15 ? [[]] : [[], [record], [record, record + 1]]
        let possible = lost.map { lost in state((0..<records).filter { !lost.contains($0) }) }
        #expect(possible.contains(try state(of: store)), comment)
        try expectSound(store, on: disk, comment)
      }
    }
  }
}
