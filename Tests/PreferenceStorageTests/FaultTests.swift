import PreferenceStorage
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("System calls that fail") struct FaultTests {
  static let path: FilePath = "/folder/store.preferences"

  /// An operation on a store, and its effect on the values.
  struct Step: Sendable {
    let act: @Sendable (FilePreferenceStore) throws -> Void
    let change: @Sendable (inout [String: Int]) -> Void
  }

  static func set(_ value: Int, _ key: String) -> Step {
    Step(act: { try $0.set(value, forKey: key) }, change: { $0[key] = value })
  }

  static func transaction(_ value: Int) -> Step {
    Step {
      try $0.transaction { changes in
        try changes.set(value, forKey: "x")
        changes.removeValue(forKey: "y")
        try changes.set(value, forKey: "z \(value)")
      }
    } change: { state in
      state["x"] = value
      state["y"] = nil
      state["z \(value)"] = value
    }
  }

  static let script: [Step] =
    [
      set(1, "a"), set(2, "b"), transaction(3), set(4, "y"), set(4, "y"),
      Step(act: { try $0.removeValue(forKey: "b") }, change: { $0["b"] = nil }),
      Step(act: { try $0.synchronize() }, change: { _ in }),
      Step(act: { try $0.reload() }, change: { _ in }),
    ] + (10..<30).map { set($0, "counter") } + [
      Step(act: { try $0.migrate(to: 2) { _, _ in } }, change: { $0["#version"] = 2 }),
      transaction(5),
      Step(act: { try $0.removeAll() }, change: { $0 = [:] }),
      set(6, "last"),
    ]

  func state(of store: FilePreferenceStore) throws -> [String: Int] {
    var state: [String: Int] = [:]
    for key in store.keys { state[key] = try store.value(Int.self, forKey: key) }
    return state
  }

  /// Runs the script on a disk on which one call fails, and returns the number of calls.
  func run(
    _ failure: FailingFileSystem.Failure, at call: Int, lasting: Bool, _ durability: Durability
  ) throws -> Int {
    let comment: Comment = "\(failure) at call \(call), lasting: \(lasting), \(durability)"
    // Half of the runs begin with a file that has a bad line and an incomplete last line. In half of the runs, the file
    // can't be replaced.
    let isFixed = call % 4 >= 2
    let disk =
      call % 2 == 0
      ? SimulatedDisk(fixing: isFixed ? FaultTests.path : nil)
      : SimulatedDisk(Array("#preferences 1\n{\"a\":0}\nbad\n{\"b".utf8), at: FaultTests.path, isFixed: isFixed)
    let system = FailingFileSystem(disk, failing: call, with: failure, isLasting: lasting)
    func open(_ system: FileSystem) throws -> FilePreferenceStore {
      try FilePreferenceStore(
        path: FaultTests.path, durability: durability, system: system, compactingAbove: 300)
    }
    var expected = call % 2 == 0 ? [:] : ["a": 0]
    do {
      let store = try open(system)
      for (number, step) in FaultTests.script.enumerated() {
        let place: Comment = "\(comment), step \(number)"
        var after = expected
        step.change(&after)
        do {
          try step.act(store)
          expected = after
          #expect(try state(of: store) == expected, place)
        } catch let error as PreferenceError {
          #expect(error.description.contains(FaultTests.path.description), place)
          let actual = try state(of: store)
          // If a synchronization fails, the change has been made but isn't safe.
          #expect(actual == expected || durability == .synced && actual == after, place)
          expected = actual
        }
        // The values in memory are those in the file, and a write that is continued damages nothing.
        let written = try open(disk.snapshot())
        #expect(try state(of: written) == expected, place)
        if case .shortened = failure, call % 2 == 0 { #expect(written.recovery == nil, place) }
      }
      system.heal()
      try store.set(7, forKey: "healed")
      expected["healed"] = 7
      #expect(try state(of: store) == expected, comment)
    } catch is PreferenceError {
      // The store couldn't be opened.
    }
    let reopened = try open(disk)
    #expect(try state(of: reopened) == expected, comment)
    return system.callCount
  }

  /// Runs the script once for each call that it makes, which then fails; in a debug build, for every fifth call.
  func runAtEachCall(_ failure: FailingFileSystem.Failure, lasting: Bool, _ durability: Durability) throws {
    var call = 0
    while try run(failure, at: call, lasting: lasting, durability) > call { call += repetitions(debug: 5, release: 1) }
    #expect(call > 100)
  }

  @Test(
    "leave file and memory as they were before, or after, what failed",
    arguments: [ENOSPC, EIO, EDQUOT, EACCES], [Durability.written, .synced])
  func errors(number: Int32, durability: Durability) throws {
    for lasting in [false, true] {
      try runAtEachCall(.error(number), lasting: lasting, durability)
    }
  }

  @Test("that do only a part are continued, or taken back", arguments: [Durability.written, .synced])
  func shortened(durability: Durability) throws {
    for failure in [FailingFileSystem.Failure.shortened, .shortenedThenError(ENOSPC)] {
      try runAtEachCall(failure, lasting: false, durability)
    }
  }

  @Test("say no space when there is none, and unwritable otherwise")
  func codes() throws {
    for (number, code) in [(ENOSPC, PreferenceError.Code.noSpace), (EDQUOT, .noSpace), (EIO, .unwritable)] {
      let system = FailingFileSystem(SimulatedDisk(), failing: 10, with: .error(number), isLasting: true)
      let store = try FilePreferenceStore(path: FaultTests.path, system: system)
      let error = try #require(throws: PreferenceError.self) {
        for turn in 0..<10 { try store.set(turn, forKey: "a") }
      }
      #expect(error.code == code)
      #expect(error.underlying is SystemError)
    }
  }
}
