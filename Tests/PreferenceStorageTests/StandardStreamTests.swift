#if os(Linux)
  import Foundation
  import PreferenceStorage
  import TestSupport
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  @Suite("Closed standard streams", .timeLimit(.hang)) struct StandardStreamTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
      "what a program prints while its output is closed doesn't get into the file", arguments: [[0, 1, 2], [1], [2]])
    func output(closed: [Int]) async throws {
      await #expect(processExitsWith: .success) { [path = folder.file().path as String, closed = closed as [Int]] in
        for descriptor in closed { close(Int32(descriptor)) }
        let store = try FilePreferenceStore(url: URL(filePath: path))
        let changes = store.changes()
        for turn in 0..<20 {
          try store.set(turn, forKey: "a")
          for descriptor in closed { _ = write(Int32(descriptor), "printed\n", 8) }
        }
        try store.synchronize()
        try store.compact()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        insist(!text.contains("printed"))
        withExtendedLifetime(changes) {}
      }
    }
  }
#endif
