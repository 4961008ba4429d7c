#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Tests of outputs that can't be written, names that aren't text, and users who don't own the file.
  @Suite("prefs in hostile surroundings", .timeLimit(.hang)) final class HostileTests: Sendable {
    let folder: TemporaryFolder
    var file: String { folder.path(of: "settings.preferences") }

    init() throws {
      folder = try TemporaryFolder()
      #expect(try Tool.run([file, "set", "a", "[1,2]"]).status == 0)
    }

    /// Runs a shell script in which `$1` is the tool and `$2` is the file.
    func shell(_ script: String) throws -> Tool.Result {
      try Tool.run("/bin/sh", ["-c", script, "-", Tool.path, file])
    }

    @Test(
      "an output that can't be written is an error",
      arguments: ["list", "get a", "export", "check", "--help"],
      [">/dev/full", ">&-", ">&4"])
    func output(command: String, redirection: String) throws {
      let words = command == "--help" ? "\"$1\" --help" : "\"$1\" \"$2\" \(command)"
      // The last redirection is to a pipe without a reader.
      let pipe = "trap '' PIPE; mkfifo \"$2.fifo\"; exec 3<>\"$2.fifo\" 4>\"$2.fifo\" 3<&-"
      let result = try shell("\(pipe); \(words) \(redirection)")
      #expect(result.status == 74)
      #expect(result.errors.contains("the output could not be written"))
    }

    @Test("an export over the file itself is refused, by any of its names")
    func exportOverItself() throws {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let other = folder.path(of: "other")
      try FileManager.default.linkItem(atPath: file, toPath: other)
      for target in [file, other, folder.url.path + "/./settings.preferences"] {
        #expect(try Tool.run([file, "export", target]).status == 64)
      }
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test("an export is readable by its owner only, and replaces an older one as a whole")
    func exportMode() throws {
      let target = folder.path(of: "out.json")
      for _ in 0..<2 {
        #expect(try Tool.run([file, "export", target]).status == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(chmod(target, 0o644) == 0)
      }
      #expect(try Tool.run([file, "export", "/dev/full"]).status == 74)
      #expect(try Tool.run([file, "export", folder.url.path + "/absent/out"]).status == 74)
      #expect(try folder.names.count == 2)
    }

    @Test("a name that isn't text is the file's name, and a key that isn't is refused")
    func bytes() throws {
      let result = try shell(
        """
        cd "$(dirname "$2")" && name=$(printf 'f\\377o')
        "$1" "$name" set b 1 && "$1" "$name" get b && test -f "$name" && ls | wc -l
        "$1" "$name" set "$name" 1; echo $?
        """)
      #expect(result.output == "1\n2\n64\n")
    }

    @Test("watching without notices ends with an error")
    func watchWithoutNotices() throws {
      // In a user namespace, the limit applies to this test alone.
      let limit = "echo 0 > /proc/sys/user/max_inotify_instances"
      guard try shell("unshare -U -r sh -c '\(limit)'").status == 0 else {
        return print("This machine doesn't allow a user namespace with a limit of its own.")
      }
      let result = try shell("exec unshare -U -r sh -c '\(limit); exec \"$1\" \"$2\" watch' - \"$1\" \"$2\"")
      #expect(result.status == 74)
      #expect(result.errors.contains("can't be watched"))
    }

    @Test("a file that another program keeps locked is read, and a write ends with a status of its own")
    func locked() async throws {
      let descriptor = open(file, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      #expect(flock(descriptor, LOCK_EX) == 0)
      #expect(try Tool.run([file, "get", "a"]).output == "[1,2]\n")
      #expect(try Tool.run([file, "check"]).status == 0)
      // The tool waits for the lock, so a separate thread waits for the tool.
      let path = file
      let result = try await onThread { Result { try Tool.run([path, "set", "a", "2"]) } }.get()
      #expect(result.status == 75)
      #expect(result.errors.contains("locked by another process"))
    }

    @Test("a damaged file that another program keeps locked isn't called sound")
    func lockedDamage() async throws {
      try Data("#preferences 1\n{\"a\":1}\nrubbish\n".utf8).write(to: URL(filePath: file))
      let descriptor = open(file, O_RDONLY | O_CLOEXEC)
      #expect(flock(descriptor, LOCK_EX) == 0)
      // The tool waits for the lock, so a separate thread waits for the tool.
      let path = file
      let result = try await onThread { Result { try Tool.run([path, "check"]) } }.get()
      #expect(result.status == 75 && result.output == "")
      #expect(result.errors.contains("could not be checked"))
      close(descriptor)
      #expect(try Tool.run([file, "check"]).status == 65)
    }

    @Test("what the superuser writes in another user's folder is that user's", .enabled(if: geteuid() == 0))
    func owner() throws {
      let user = folder.path(of: "user")
      #expect(mkdir(user, 0o700) == 0 && chown(user, 4321, 4321) == 0)
      #expect(try Tool.run([user + "/new/settings.preferences", "set", "a", "1"]).status == 0)
      for name in ["/new", "/new/settings.preferences"] {
        #expect(try FileManager.default.attributesOfItem(atPath: user + name)[.ownerAccountID] as? Int == 4321)
      }
    }

    @Test("a new folder's name is synchronized in each folder above it", .enabled(if: Strace.works))
    func nestedFolders() throws {
      let log = folder.path(of: "strace")
      let deep = folder.url.path + "/1/2/3/4"
      let result = try Tool.run(
        Strace.path, ["-f", "-y", "-o", log, "-e", "trace=fsync", Tool.path, deep + "/s", "set", "a", "1"])
      #expect(result.status == 0)
      let calls = try String(contentsOfFile: log, encoding: .utf8)
      for path in ["", "/1", "/1/2", "/1/2/3", "/1/2/3/4"] { #expect(calls.contains("<\(folder.url.path)\(path)>")) }
    }
  }
#endif
