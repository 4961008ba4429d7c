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

  /// A file that is mounted by itself, as containers mount single files.
  ///
  /// No other file can take its name.
  @Suite(
    "A file that is mounted by itself", .timeLimit(.hang),
    .enabled(if: MountNamespace.isAllowed, "this machine allows no mounts in a namespace of one's own"))
  struct MountTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("is written to, keeps every change, and is compacted in place")
    func written() async throws {
      let (file, inside) = (folder.file("outside"), folder.file())
      try file.overwrite("#preferences 1\n{\"a\":1}\n")
      try inside.overwrite("")
      await #expect(processExitsWith: .success) {
        [file = file.path as String, inside = inside.path as String] in
        // A process with several threads can't enter a new user namespace, but a forked child has one thread.
        let child = forkWhileOthersSleep()
        if child == 0 {
          insist(MountNamespace.enter(mounting: file, at: inside))
          let store = try FilePreferenceStore(path: FilePath(inside), system: FileSystem(), compactingAbove: 200)
          for turn in 0..<100 { try store.set(turn, forKey: "b") }
          try store.set("x", forKey: "last")
          let other = try FilePreferenceStore(path: FilePath(inside), system: FileSystem())
          insist(other.keys == ["a", "b", "last"])
          insist(try other.value(Int.self, forKey: "b") == 99)
          insist(store.recovery == nil && other.recovery == nil)
          try store.compact()
          _exit(0)
        }
        var status: Int32 = 0
        insist(waitpid(child, &status, 0) == child && status == 0)
      }
      #expect(try inside.text == "")
      #expect(
        try file.text
          == "#preferences 1\n1cd57780 { }\n561bacaf {\"a\":1}\na61beece {\"b\":99}\n32ecd737 {\"last\":\"x\"}\n")
      #expect(try folder.names == ["outside", "store.preferences"])
    }
  }

  /// A process's own mount namespace, by calls that Swift's module of the C library doesn't have.
  private enum MountNamespace {
    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Mount =
      @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt, UnsafeRawPointer?) ->
      Int32

    /// Whether the machine allows a new namespace, as the command `unshare` finds out.
    static let isAllowed: Bool = {
      let command = Process()
      command.executableURL = URL(filePath: "/usr/bin/env")
      command.arguments = ["unshare", "-U", "-r", "-m", "true"]
      command.standardError = nil
      do { try command.run() } catch { return false }
      command.waitUntilExit()
      return command.terminationStatus == 0
    }()

    /// Moves the process, which has one thread, to new namespaces, and mounts one file on another.
    static func enter(mounting file: String, at place: String) -> Bool {
      guard let unshare = dlsym(nil, "unshare").map({ unsafeBitCast($0, to: Unshare.self) }),
        let mount = dlsym(nil, "mount").map({ unsafeBitCast($0, to: Mount.self) })
      else { return false }
      let (user, group) = (getuid(), getgid())
      let (newUser, newMounts): (Int32, Int32) = (0x1000_0000, 0x0002_0000)
      guard unshare(newUser | newMounts) == 0, set("/proc/self/setgroups", to: "deny"),
        set("/proc/self/uid_map", to: "0 \(user) 1"), set("/proc/self/gid_map", to: "0 \(group) 1")
      else { return false }
      let bind: UInt = 0x1000
      return mount(file, place, nil, bind, nil) == 0
    }

    private static func set(_ path: String, to text: String) -> Bool {
      let file = open(path, O_WRONLY | O_CLOEXEC)
      defer { close(file) }
      return write(file, text, text.utf8.count) == text.utf8.count
    }
  }
#endif
