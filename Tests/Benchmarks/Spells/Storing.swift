import Benchmark
import Foundation
import Spellbook

private final class Settings {
  @Preference var count = 7
  @Preference var text = longText
}

func compareStoring() {
  compareReadingAgain()
  compareReadingFromStore("Int", 7)
  compareReadingFromStore("String", longText)
  compareSetting(.written, times: 100, goal: 3)
  compareSetting(.synced, times: 1, goal: 1.2)
  compareOpening()
}

private func compareReadingAgain() {
  Comparison(what: "Re-read @Preference, Int", baseline: "value by key", goal: .ratio(1.5), times: 10_000).add {
    let settings = try storedSettings()
    return { $0.measure { for _ in $0 { use(settings.count) } } }
  } baseline: {
    readingByKey(7)
  }
  Comparison(what: "Re-read @Preference, String", baseline: "value by key", goal: .ratio(1.5), times: 10_000).add {
    let settings = try storedSettings()
    return { $0.measure { for _ in $0 { use(settings.text) } } }
  } baseline: {
    readingByKey(longText)
  }
}

private func storedSettings() throws -> Settings {
  let store = try FilePreferenceStore(url: TemporaryFolder.file("settings.preferences"))
  InitializerRegistry.shared.register(.instance(store as any PreferenceStore))
  let settings = identity(Settings())
  settings.count = 8
  settings.text += "b"
  return settings
}

@inline(__always)
private func compareReadingFromStore<Value: Codable & Sendable>(_ what: String, _ value: Value) {
  Comparison(what: "Read from a store, \(what)", baseline: "value by key", goal: .ratio(1.5)).add {
    let store = identity(try FilePreferenceStore(url: TemporaryFolder.file("settings.preferences")))
    try store.set(value, forKey: "value")
    return { try $0.measure { for _ in $0 { use(try store.value(Value.self, forKey: "value")) } } }
  } baseline: {
    readingByKey(value)
  }
}

@inline(__always)
private func readingByKey<Value: Sendable>(_ value: Value) -> (Meter) -> Void {
  let values = identity(NamedValues())
  values.set(value, forKey: "value")
  return { $0.measure { for _ in $0 { use(values.value(Value.self, forKey: "value")) } } }
}

private func compareSetting(_ durability: Durability, times: Int, goal: Double) {
  Comparison(
    what: "Set an Int, \(durability)", baseline: durability == .written ? "write" : "write and fdatasync",
    goal: .ratio(goal), times: times
  ).add {
    let store = try FilePreferenceStore(url: TemporaryFolder.file("settings.preferences"), durability: durability)
    var number = 1_000_000
    return {
      try $0.measure {
        for _ in $0 {
          number += 1
          try store.set(number, forKey: "launches")
        }
      }
    }
  } baseline: {
    let file = try AppendedFile(TemporaryFolder.file("floor"))
    let values = identity(NamedValues())
    var number = 1_000_000
    return {
      $0.measure {
        for _ in $0 {
          number += 1
          values.set(number, forKey: "launches")
          file.append(synced: durability == .synced)
        }
      }
    }
  }
}

/// The lower bound for a store whose values are safe in the kernel: one system call for a line of the same length.
private final class AppendedFile {
  private let descriptor: Int32
  private let line = Array("01234567 {\"launches\":1000000}\n".utf8)

  init(_ url: URL) throws {
    descriptor = open(url.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw CocoaError(.fileWriteUnknown) }
  }

  deinit { close(descriptor) }

  func append(synced: Bool) {
    precondition(write(descriptor, line, line.count) == line.count)
    #if canImport(Darwin)
      if synced { precondition(fcntl(descriptor, F_FULLFSYNC) == 0) }
    #else
      if synced { precondition(fdatasync(descriptor) == 0) }
    #endif
  }
}

private func compareOpening() {
  Comparison(what: "Open a store of   1,000 keys", baseline: "JSONDecoder", times: 1)
    .add(subject: { try opening(1_000) }, baseline: { try decoding(1_000) })
  Comparison(what: "Open a store of 100,000 keys", baseline: "1,000 keys 100 times", times: 1)
    .add(subject: { try opening(100_000) }, baseline: { try opening(1_000, turns: 100) })
}

private func opening(_ count: Int, turns: Int = 1) throws -> (Meter) throws -> Void {
  let url = try TemporaryFolder.file("settings.preferences")
  let store = try FilePreferenceStore(url: url)
  for number in 0..<count { try store.set(number, forKey: "setting number \(number)") }
  return { try $0.measure { for _ in 0..<$0.count * turns { use(try FilePreferenceStore(url: url)) } } }
}

private func decoding(_ count: Int) throws -> (Meter) throws -> Void {
  let url = try TemporaryFolder.file("settings.json")
  let settings = Dictionary(uniqueKeysWithValues: (0..<count).map { ("setting number \($0)", $0) })
  try JSONEncoder().encode(settings).write(to: url)
  return {
    try $0.measure {
      for _ in $0 { use(try JSONDecoder().decode([String: Int].self, from: Data(contentsOf: url))) }
    }
  }
}
