@testable import LaunchInitializers
import Support
import Synchronization
import TestSupport
import Testing

#if os(macOS) || os(Linux)
  import Foundation
#endif

/// Tests of a log whose function blocks, and of a standard error that nothing reads.
@Suite("Log", .timeLimit(.hang)) struct LogTests {
  @Test("a log that blocks gets the lines up to the maximum, and then the number of the others")
  func omission() async {
    let (isBlocked, goOn, isEmpty, journal) = (Latch(), Latch(), AsyncLatch(), Journal())
    let log = LaunchLog { line in
      isBlocked.open()
      goOn.wait()
      journal.note(line)
    }
    func add(_ line: String) {
      log.add(line)
      log.start()
    }
    add("first")
    isBlocked.wait()
    for number in 1...LaunchLog.capacity + 3 { add("\(number)") }
    goOn.open()
    log.whenWritten { isEmpty.open() }
    await isEmpty.wait()
    add("last")
    let isOver = AsyncLatch()
    log.whenWritten { isOver.open() }
    await isOver.wait()
    let lines = journal.entries
    #expect(lines.count == LaunchLog.capacity + 3)
    #expect(lines.dropLast(2) == (["first"] + (1...LaunchLog.capacity).map { "\($0)" })[...])
    #expect(
      lines.suffix(2) == ["log: 3 lines were left out, because the log took too long to write others", "last"])
  }

  @Test("a log that blocks forever keeps no step from beginning or being shut down, and no call from its answer")
  func blocks() async throws {
    let never = Latch()
    let launch = try LaunchSequence(configuration: NoConfiguration(), log: { _ in never.wait() }) {
      Do { _ in throw Broken() }.id("bad").onFailure(.skip)
      Do { _ in }.id("good")
    }
    #expect(try await launch.launch().entries.map(\.outcome) == [.failed, .completed])
    #expect(await launch.shutDown().entries.map(\.id) == ["good"])
    never.open()
  }

  #if os(macOS) || os(Linux)
    @Test("a program whose standard error nothing reads shuts down and ends with code 0", arguments: [false, true])
    func standardError(isFull: Bool) async {
      await #expect(processExitsWith: .exitCode(0)) { [isFull] in
        alarm(300)
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) == STDERR_FILENO else { exit(2) }
        close(ends[1])
        if isFull {
          _ = fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK)
          let block = [UInt8](repeating: 46, count: 4_096)
          while write(STDERR_FILENO, block, block.count) > 0 {}
          while write(STDERR_FILENO, block, 1) > 0 {}
          _ = fcntl(STDERR_FILENO, F_SETFL, 0)
        } else {
          close(ends[0])
        }
        let journal = Journal()
        let launch = try LaunchSequence(configuration: NoConfiguration()) {
          note("a", journal)
          Do { _ in kill(getpid(), SIGTERM) }.deferred()
        }
        let code = await launch.run()
        exit(journal.entries == ["a", "-a"] ? code : 3)
      }
    }

    @Test("a text that can't be written to standard error leaves no signal behind")
    func noSignal() async {
      await #expect(processExitsWith: .exitCode(0)) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) == STDERR_FILENO else { exit(2) }
        for end in ends { close(end) }
        for _ in 0..<3 { writeToStandardError("lost\n") }
        exit(0)
      }
    }

    @Test("a second signal ends the process while other libraries block hundreds of queues")
    func queues() async {
      await #expect(processExitsWith: .signal(SIGTERM)) {
        alarm(300)
        // There are more queues than Dispatch has threads, and a queue that has a thread never returns it.
        let count = 600
        for number in 0..<count {
          DispatchQueue(label: "library \(number)").async {
            while true { sleep(100) }
          }
        }
        let isStopping = AsyncLatch()
        let launch = try LaunchSequence(configuration: NoConfiguration()) {
          Do(whenShutDown: {
            isStopping.open()
            await AsyncLatch().wait()
          }) { _ in kill(getpid(), SIGTERM) }
        }
        Task {
          await isStopping.wait()
          while true {
            kill(getpid(), SIGTERM)
            await Task.yield()
          }
        }
        exit(await launch.run())
      }
    }
  #endif
}
