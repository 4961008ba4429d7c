#if os(Linux)
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Forks while all other threads of the process sleep.
  ///
  /// A lock of the language's runtime that another thread held would be held in the child for good, where no thread is left
  /// to release it. A child that hangs nevertheless ends after five minutes: it has the pipes at whose end the test waits.
  func forkWhileOthersSleep() -> pid_t {
    while !otherThreadsSleep() { sched_yield() }
    let child = fork()
    if child == 0 { alarm(300) }
    return child
  }

  /// Whether the kernel shows every thread of the process as asleep, but for the calling one.
  private func otherThreadsSleep() -> Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let awake = threads.filter { thread in
      // "12 (name) S …"; a thread that has ended since has no file.
      let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
      return line?.split(separator: ")").last?.hasPrefix(" S") == false
    }
    return awake.count <= 1
  }
#endif
