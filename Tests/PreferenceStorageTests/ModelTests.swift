import Foundation
import PreferenceStorage
import TestSupport
import Testing

/// Tests with thousands of random operations on several stores of one file, compared with an array of keys and values.
@Suite("A random program") struct ModelTests {
  /// The keys with their values, in the order in which they were first written.
  struct Model: Equatable {
    var entries: [(key: String, value: String)] = []

    mutating func set(_ value: String?, _ key: String) {
      let index = entries.firstIndex { $0.key == key }
      switch (index, value) {
      case (let index?, let value?): entries[index].value = value
      case (let index?, nil): entries.remove(at: index)
      case (nil, let value?): entries.append((key, value))
      case (nil, nil): break
      }
    }

    static func == (one: Model, other: Model) -> Bool {
      one.entries.elementsEqual(other.entries) { $0.key == $1.key && $0.value == $1.value }
    }
  }

  struct Rollback: Error {}

  let path: FilePath
  let system: FileSystem
  var random: SplitMix
  var model = Model()
  var stores: [FilePreferenceStore] = []

  init(path: FilePath, system: FileSystem, seed: UInt64) throws {
    self.path = path
    self.system = system
    random = SplitMix(seed: seed)
    for _ in 0..<3 { stores.append(try open()) }
  }

  init() throws { try self.init(path: "/folder/store.preferences", system: SimulatedDisk(), seed: 0) }

  mutating func open() throws -> FilePreferenceStore {
    try FilePreferenceStore(
      path: path, durability: random.below(4) == 0 ? .synced : .written, system: system,
      compactingAbove: 500 + Int(random.below(3000)))
  }

  mutating func key() -> String {
    let names = ["volume", "é\n", "theme", "\"", "a long name for a key that takes an allocation", "👩‍👩‍👧"]
    return names[Int(random.below(6))] + (random.below(2) == 0 ? "" : "\(random.below(12))")
  }

  mutating func value() -> String {
    String(repeating: "x\u{0}é", count: Int(random.below(20))) + "\(random.next())"
  }

  func state(of store: FilePreferenceStore) throws -> Model {
    Model(entries: try store.keys.map { ($0, try #require(try store.value(String.self, forKey: $0))) })
  }

  mutating func step() throws {
    let store = stores[Int(random.below(3))]
    switch random.below(40) {
    case 0..<18:
      let (key, value) = (key(), value())
      try store.set(value, forKey: key)
      model.set(value, key)
    case 18..<24:
      let key = key()
      try store.removeValue(forKey: key)
      model.set(nil, key)
    case 24..<32: try transaction(on: store)
    case 32..<34: try store.reload()
    case 34: try store.synchronize()
    case 35:
      try store.removeAll()
      model = Model()
    case 36: stores[Int(random.below(3))] = try open()
    default: try editByHand()
    }
  }

  mutating func transaction(on store: FilePreferenceStore) throws {
    var changed = model
    var edits: [(String, String?)] = []
    for _ in 0...random.below(5) { edits.append((key(), random.below(3) == 0 ? nil : value())) }
    let fails = random.below(4) == 0
    do {
      try store.transaction { changes in
        for (key, value) in edits {
          if let value { try changes.set(value, forKey: key) } else { changes.removeValue(forKey: key) }
        }
        if fails { throw Rollback() }
      }
      // One line has the last value of each key, in the order in which the keys were changed.
      var last: [String: String?] = [:]
      for (key, value) in edits { last[key] = .some(value) }
      var seen: Set<String> = []
      for (key, _) in edits where seen.insert(key).inserted { changed.set(last[key] ?? nil, key) }
      model = changed
    } catch is Rollback {}
  }

  mutating func editByHand() throws {
    // A file without a first line would count as begun by hand, and would be reported.
    guard try system.find(path)?.size ?? 0 > 0, let file = try? system.open(path, for: .appending) else { return }
    let (key, value) = ("by hand \(random.below(3))", "\(random.next())")
    let line = Array("{ \"\(key)\" : \"\(value)\" }\n".utf8)
    let count = try line.withUnsafeBytes { bytes in try system.append(bytes, to: file) }
    #expect(count == line.count)
    system.close(file)
    model.set(value, key)
  }

  mutating func run(steps: Int, comment: Comment) throws {
    for number in 0..<steps {
      try step()
      guard number % 10 == 0 || number == steps - 1 else { continue }
      let store = stores[Int(random.below(3))]
      try store.reload()
      #expect(try state(of: store) == model, comment)
      #expect(try state(of: open()) == model, comment)
      #expect(store.recovery == nil, comment)
      if try state(of: store) != model { return }
    }
  }

  @Test(
    "leaves in every store what a dictionary has",
    arguments: 0..<UInt64(Effort.count(repetitions(debug: 4, release: 8), long: 400)))
  func simulated(seed: UInt64) throws {
    var program = try ModelTests(path: "/folder/store.preferences", system: SimulatedDisk(), seed: seed)
    try program.run(steps: 400, comment: "seed \(seed)")
  }

  @Test(
    "leaves the same in a real file", arguments: 0..<UInt64(Effort.count(repetitions(debug: 1, release: 3), long: 100)))
  func real(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    var program = try ModelTests(path: FilePath(folder.file().path), system: FileSystem(), seed: seed)
    try program.run(steps: 400, comment: "seed \(seed)")
    #expect(try folder.names == ["store.preferences"])
  }
}
