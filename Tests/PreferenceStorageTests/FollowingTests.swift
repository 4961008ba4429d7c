import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("What others write, without a listener", .timeLimit(.hang)) struct FollowingTests {
  let folder: TemporaryFolder
  var file: URL { folder.file() }

  init() throws { folder = try TemporaryFolder() }

  func stranger() throws -> FilePreferenceStore {
    try FilePreferenceStore(path: FilePath(file.path), system: FileSystem())
  }

  /// Reads until the store has the value, for at most ten seconds.
  func reads(_ value: Int, from store: FilePreferenceStore) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while try store.value(Int.self, forKey: "a") != value {
      if ContinuousClock.now > end { return false }
      try await Task.sleep(for: .milliseconds(1))
    }
    return true
  }

  @Test("is seen by the reads that come after the second")
  func seen() async throws {
    let store = try FilePreferenceStore(url: file)
    let other = try stranger()
    for _ in 0..<2 { #expect(try store.value(Int.self, forKey: "a") == nil) }
    for number in 1...20 {
      try other.set(number, forKey: "a")
      #expect(try await reads(number, from: store))
    }
    try file.append("{\"a\":100}\n")
    #expect(try await reads(100, from: store))
    try file.overwrite("#preferences 1\n{\"a\":200}\n")
    #expect(try await reads(200, from: store))
  }

  @Test("is seen by the first read, however long after the opening", arguments: [0, 1, 2])
  func first(way: Int) async throws {
    let store = try FilePreferenceStore(url: file)
    try stranger().set(1, forKey: "a")
    // A change counts once it is older than 100 milliseconds.
    try await Task.sleep(for: .milliseconds(101))
    switch way {
    case 0: #expect(try store.value(Int.self, forKey: "a") == 1)
    case 1: #expect(store.keys == ["a"])
    default: #expect(store.json().contains("1"))
    }
    try stranger().set(2, forKey: "a")
    try await Task.sleep(for: .milliseconds(101))
    #expect(try store.value(Int.self, forKey: "a") == 2)
  }

  @Test("is seen also if it was written before the file was followed")
  func before() async throws {
    let store = try FilePreferenceStore(url: file)
    #expect(try store.value(Int.self, forKey: "a") == nil)
    try stranger().set(1, forKey: "a")
    #expect(try await reads(1, from: store))
  }

  @Test("is seen through a prefix, and in the JSON text")
  func throughAPrefix() async throws {
    let base = try FilePreferenceStore(url: file)
    let prefixed = PrefixedPreferenceStore("p.", in: base)
    for _ in 0..<2 { #expect(try prefixed.value(Int.self, forKey: "a") == nil) }
    try stranger().set(1, forKey: "p.a")
    let end = ContinuousClock.now + .seconds(10)
    while try prefixed.json(forKey: "a") == nil, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try prefixed.value(Int.self, forKey: "a") == 1)
  }

  @Test("isn't seen by a store that doesn't follow others, before it reloads")
  func switchedOff() async throws {
    let store = try FilePreferenceStore(url: file, followsOthers: false)
    for _ in 0..<3 { #expect(try store.value(Int.self, forKey: "a") == nil) }
    try stranger().set(1, forKey: "a")
    for _ in 0..<20 {
      try await Task.sleep(for: .milliseconds(5))
      #expect(try store.value(Int.self, forKey: "a") == nil)
    }
    try store.reload()
    #expect(try store.value(Int.self, forKey: "a") == 1)
  }

  #if os(Linux)
    @Test("takes one watch for all stores, which ends with the last of them, and none for a tool that reads once")
    func thread() async {
      await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
        alarm(300)
        var stores = try (0..<5).map { try FilePreferenceStore(url: URL(filePath: "\(path)/\($0)")) }
        for store in stores {
          try store.set(1, forKey: "a")
          _ = try store.value(Int.self, forKey: "a")
        }
        insist(try watchDescriptors() == 0)
        for store in stores { _ = try store.value(Int.self, forKey: "a") }
        while try watchDescriptors() != 1 { sched_yield() }
        stores.removeAll()
        while try watchDescriptors() > 0 { sched_yield() }
      }
    }
  #endif
}
