#if os(Linux)
  import Foundation
  import PreferenceSpell
  import TestSupport
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  @Suite("A property in a forked child", .timeLimit(.hang)) struct ForkedPropertyTests {
    @Test("has none of the values of its parent's store, not even one that the parent has read")
    func parentsValue() async throws {
      let folder = try TemporaryFolder()
      await #expect(processExitsWith: .success) { [file = folder.file() as URL] in
        let store = try FilePreferenceStore(url: file)
        let volume = Preference("volume", default: 5, store: store)
        volume.value = 7
        if volume.value != 7 { exit(1) }
        let child = forkWhileOthersSleep()
        if child == 0 {
          if volume.value != 5 || volume.error?.code != .forked { _exit(2) }
          volume.value = 8
          let own = Preference("volume", default: 5, store: try FilePreferenceStore(url: file))
          if own.value != 7 { _exit(3) }
          own.value = 9
          _exit(own.value == 9 ? 0 : 4)
        }
        if ended(child) != 0 { exit(5) }
        try store.reload()
        exit(volume.value == 9 ? 0 : 6)
      }
    }
  }
#endif
