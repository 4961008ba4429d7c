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

    @Test("is written to, keeps every change, and only grows")
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
          insist(code { try store.compact() } == .unwritable)
          _exit(0)
        }
        var status: Int32 = 0
        insist(waitpid(child, &status, 0) == child && status == 0)
      }
      #expect(try inside.text == "")
      #expect(try file.text.split(separator: "\n").count == 103)
      #expect(try folder.names == ["outside", "store.preferences"])
    }

    @Test("loses nothing that several processes have written, some of which are killed while they write it")
    func writers() async throws {
      let (file, inside) = (folder.file("outside"), folder.file())
      try file.overwrite("#preferences 1\n")
      try inside.overwrite("")
      await #expect(processExitsWith: .success) {
        [
          file = file.path as String, inside = inside.path as String, acknowledged = folder.file("log").path as String,
          failures = folder.file("failures").path as String
        ] in
        let child = forkWhileOthersSleep()
        if child != 0 {
          var status: Int32 = 0
          insist(waitpid(child, &status, 0) == child && status == 0)
          return
        }
        // Without it, the message of a process that ends itself is lost.
        insist(dup2(open(failures, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600), STDERR_FILENO) == STDERR_FILENO)
        try writeBesideKilledWriters(of: inside, mounting: file, acknowledging: acknowledged)
        _exit(0)
      }
      let failures = try folder.file("failures").text
      #expect(failures == "")
      #expect(try inside.text == "")
    }
  }

  /// Writes with several processes, most of which are killed, and ends the process if a value is lost.
  private func writeBesideKilledWriters(of inside: String, mounting file: String, acknowledging acknowledged: String)
    throws
  {
    insist(MountNamespace.enter(mounting: file, at: inside))
    let log = open(acknowledged, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    insist(log >= 0)
    // Each of the writers but two is killed as soon as it has written 20 values.
    let patients = (0..<2).map { writer(number: $0, at: inside, turns: 200, acknowledging: log) }
    let killed = repetitions(debug: 15, release: 40)
    for number in 2..<2 + killed {
      let writer = writer(number: number, at: inside, turns: .max, acknowledging: log)
      var status: Int32 = 0
      while count(of: number, in: acknowledged) < 20 {
        insist(waitpid(writer, &status, WNOHANG) == 0)
        usleep(100)
      }
      // The moment within a write is another one each time.
      usleep(UInt32(number) * 137 % 2_000)
      kill(writer, SIGKILL)
      insist(waitpid(writer, &status, 0) == writer && status & 0x7f == SIGKILL)
    }
    for patient in patients {
      var status: Int32 = 0
      insist(waitpid(patient, &status, 0) == patient && status == 0)
    }
    let store = try FilePreferenceStore(path: FilePath(inside), system: FileSystem())
    for (number, value) in lastValues(in: acknowledged) {
      let found = try store.value(Int.self, forKey: "writer \(number)")
      // A value that was written, but not acknowledged before the writer was killed, may be there as well.
      insist(found == value || found == value + 1)
    }
    // A process that is killed while it writes across a page of memory can leave the first part of its line.
    if let recovery = store.recovery {
      insist(recovery.editedLines.isEmpty && !recovery.headerWasDamaged && recovery.skippedLines.count <= killed)
    }
  }

  /// Starts a process that counts in the file, and writes a record to the log after each write has returned.
  private func writer(number: Int, at path: String, turns: Int, acknowledging log: Int32) -> pid_t {
    let child = fork()
    if child != 0 { return child }
    alarm(300)
    do {
      let store = try FilePreferenceStore(path: FilePath(path), system: FileSystem(), compactingAbove: 200)
      var turn = 0
      while turn < turns {
        turn += 1
        try store.set(turn, forKey: "writer \(number)")
        let record = [Int32(number), Int32(turn)]
        insist(record.withUnsafeBytes { write(log, $0.baseAddress, $0.count) } == 8)
      }
      _exit(0)
    } catch { fatalError("\(error)") }
  }

  private func records(in log: String) -> [(number: Int, value: Int)] {
    guard let bytes = FileManager.default.contents(atPath: log) else { return [] }
    let words = bytes.withUnsafeBytes { bytes in
      (0..<bytes.count / 4).map { bytes.load(fromByteOffset: 4 * $0, as: Int32.self) }
    }
    return stride(from: 0, to: words.count - 1, by: 2).map { (Int(words[$0]), Int(words[$0 + 1])) }
  }

  private func count(of number: Int, in log: String) -> Int { records(in: log).count { $0.number == number } }

  private func lastValues(in log: String) -> [Int: Int] {
    Dictionary(records(in: log).map { ($0.number, $0.value) }) { max($0, $1) }
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
