import Foundation
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

@Suite("With a limit on the length of files", .timeLimit(.hang)) struct SizeLimitTests {
  @Test("a write beyond it is an error instead of a signal, and goes through once the limit is raised")
  func sizeLimit() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.file().path as String] in
      setSizeLimit(4096)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      let text = String(repeating: "x", count: 1000)
      var written = 0
      let failure = code {
        for number in 0..<10 {
          try store.set(text, forKey: "k\(number)")
          written += 1
        }
      }
      insist(failure == .noSpace && written == 4)
      // A limit that is lowered below the file's length at any time isn't the end of the program, either.
      setSizeLimit(100)
      insist(code { try store.set(1, forKey: "k0") } == .noSpace)
      insist(code { try store.set(text, forKey: "k4") } == .noSpace)
      let other = try FilePreferenceStore(path: FilePath(path), system: FileSystem())
      insist(code { try other.set(1, forKey: "k0") } == .noSpace)
      insist(other.keys.count == 4)
      setSizeLimit(100_000)
      try store.set(text, forKey: "more")
    }
    let store = try FilePreferenceStore(url: folder.file())
    #expect(store.keys == ["k0", "k1", "k2", "k3", "more"])
    #expect(store.recovery == nil)
  }

  @Test("a program that handles or ignores the signal itself still does")
  func ownHandler() async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.file().path as String] in
      signal(SIGXFSZ) { _ in _exit(0) }
      setSizeLimit(100)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      _ = code { try store.set(String(repeating: "x", count: 1000), forKey: "k") }
      fatalError("the signal was not handled")
    }
    await #expect(processExitsWith: .success) { [path = folder.file().path as String] in
      signal(SIGXFSZ, SIG_IGN)
      _ = try FilePreferenceStore(url: URL(filePath: path))
      insist(unsafeBitCast(signal(SIGXFSZ, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self))
    }
  }

  @Test("a file that has reached it is freed by a removal and by removing everything", arguments: [false, true])
  func removal(all: Bool) async throws {
    let folder = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = folder.file().path as String, all] in
      setSizeLimit(4096)
      let store = try FilePreferenceStore(url: URL(filePath: path))
      insist(code { while true { try store.set(store.keys.count, forKey: "k\(store.keys.count)") } } == .noSpace)
      let count = store.keys.count
      if all { try store.removeAll() } else { try store.removeValue(forKey: "k0") }
      insist(store.keys.count == (all ? 0 : count - 1))
      try store.set(1, forKey: "again")
      let other = try FilePreferenceStore(path: FilePath(path), system: FileSystem())
      insist(other.keys == store.keys && other.recovery == nil)
    }
  }
}

private func setSizeLimit(_ bytes: UInt) {
  // A test runs on a thread on which Dispatch blocks signals.
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGXFSZ)
  insist(pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0)
  var limit = rlimit()
  #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    let resource = RLIMIT_FSIZE
  #endif
  insist(getrlimit(resource, &limit) == 0)
  limit.rlim_cur = rlim_t(bytes)
  insist(setrlimit(resource, &limit) == 0)
}
