// This file imports the C library of each platform. A file that calls the C library imports the module Support.

#if canImport(Darwin)
  @_exported public import Darwin
#elseif canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#elseif canImport(Android)
  @_exported public import Android
#elseif os(Windows)
  @_exported public import ucrt
#elseif canImport(WASILibc)
  @_exported public import WASILibc
#else
  #error("Spellbook doesn't know the C library of this platform. Add its module to this list.")
#endif

/// Writes text to standard error, without a buffer.
///
/// The function waits while a pipe is full, even if the pipe is in nonblocking mode. Unlike `write`, it raises no
/// SIGPIPE, which would end the program. If the pipe has no reader anymore, or writing fails for another reason, the
/// rest of the text is lost. On Windows and WASI, the function only calls `write` once, without these precautions.
package func writeToStandardError(_ text: String) {
  let bytes = Array(text.utf8)
  #if os(Windows)
    _ = _write(2, bytes, UInt32(bytes.count))
  #elseif os(WASI)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  #else
    withoutPipeSignal(from: STDERR_FILENO) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        if count > 0 {
          rest.removeFirst(count)
        } else if count < 0, errno == EAGAIN {
          var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
          _ = poll(&descriptor, 1, -1)
        } else if count == 0 || errno != EINTR {
          return
        }
      }
    }
  #endif
}

#if canImport(Darwin)
  /// A lock that keeps a thread from enabling SIGPIPE while another thread is still writing.
  private let pipeSignal = Lock(())

  /// Disables SIGPIPE for writes to `descriptor`, calls `body`, and restores the previous setting.
  private func withoutPipeSignal(from descriptor: Int32, _ body: () -> Void) {
    // On Apple platforms, SIGPIPE is sent to the process, so blocking it on this thread wouldn't help.
    pipeSignal.withLock { _ in
      let former = fcntl(descriptor, F_GETNOSIGPIPE)
      _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
      body()
      if former == 0 { _ = fcntl(descriptor, F_SETNOSIGPIPE, 0) }
    }
  }
#elseif !os(Windows) && !os(WASI)
  /// Calls `body` with SIGPIPE blocked on the calling thread, and discards a SIGPIPE that a write in `body` raises.
  private func withoutPipeSignal(from descriptor: Int32, _ body: () -> Void) {
    var (pipe, former, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    sigpending(&pending)
    let wasPending = sigismember(&pending, SIGPIPE) == 1
    pthread_sigmask(SIG_BLOCK, &pipe, &former)
    body()
    // The SIGPIPE of a failed write is pending on this thread, which has to consume it before unblocking the signal.
    var noTime = timespec()
    if !wasPending { while sigtimedwait(&pipe, nil, &noTime) == -1, errno == EINTR {} }
    pthread_sigmask(SIG_SETMASK, &former, nil)
  }
#endif

// MARK: The origin of the process, by its environment and its arguments

/// Whether a test runner, such as XCTest, Swift Testing or a package's `swift test`, started this process.
///
/// Apple's runners set environment variables. Other runners are recognized by the name of their program. The child
/// process of an exit test, which has the variable `SWT_EXIT_TEST_ID`, is also a test process.
package let isTestProcess: Bool =
  ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier", "SWT_EXIT_TEST_ID"]
  .contains { environmentVariable($0) != nil }
  || isTestRunner(CommandLine.arguments.first ?? "")

/// Returns whether the program at the path is one that runs tests.
///
/// These are Apple's `xctest`, `swiftpm-testing-helper`, and the programs that SwiftPM builds for a package's tests,
/// whose names end in `.xctest` or `-test-runner`. The other arguments of a program say nothing, because any program
/// may get the name of a test bundle as an argument.
package func isTestRunner(_ program: String) -> Bool {
  let path = "/" + (program.hasSuffix(".exe") ? program.dropLast(4) : program[...])
  let ends = ["xctest", "swiftpm-testing-helper"].flatMap { ["/\($0)", "\\\($0)"] } + [".xctest", "-test-runner"]
  return ends.contains(where: path.hasSuffix)
}

/// Whether Xcode started this process to show previews.
package let isPreviewProcess: Bool = environmentVariable("XCODE_RUNNING_FOR_PREVIEWS") == "1"

/// Returns the value of an environment variable, or nil if the variable isn't set.
private func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
