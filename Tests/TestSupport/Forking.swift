#if os(Linux)
  internal import Foundation

  #if canImport(Glibc)
    package import Glibc
  #elseif canImport(Musl)
    package import Musl
  #endif

  /// Forks while all other threads of the process sleep.
  ///
  /// If another thread held a lock of the language's runtime, no thread of the child could ever release the lock. A
  /// child that hangs nevertheless ends after five minutes, because the test waits for the end of pipes that the child
  /// has, too.
  package func forkWhileOthersSleep() -> pid_t {
    while !otherThreadsSleep() { sched_yield() }
    let child = fork()
    if child == 0 { alarm(300) }
    return child
  }

  /// Waits for the child, and returns its status.
  package func ended(_ child: pid_t) -> Int32 {
    var status: Int32 = 0
    if waitpid(child, &status, 0) != child { fatalError("there is no such child") }
    return status
  }

  /// Returns whether the kernel reports that all threads of the process except the calling thread are asleep.
  private func otherThreadsSleep() -> Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let awake = threads.filter { thread in
      // The line is "12 (name) S …". A thread that has ended since then has no file.
      let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
      return line?.split(separator: ")").last?.hasPrefix(" S") == false
    }
    return awake.count <= 1
  }
#endif
