#if os(macOS) || os(Linux)
  import Foundation
  @testable import LaunchInitializers
  import Support
  import Synchronization
  import TestSupport
  import Testing

  extension LaunchSignal {
    fileprivate static let user1 = LaunchSignal(rawValue: SIGUSR1)
    fileprivate static let user2 = LaunchSignal(rawValue: SIGUSR2)
  }

  /// Each test runs in its own process, because a signal is for the whole process.
  @Suite("Signals", .timeLimit(.hang)) struct SignalTests {
    private static func sequence(_ journal: Journal = Journal()) throws -> LaunchSequence {
      try LaunchSequence { note("a", journal) }
    }

    /// Sends a signal until something has happened.
    private static func send(_ number: Int32, until hasHappened: () -> Bool) async {
      while !hasHappened() {
        kill(getpid(), number)
        await Task.yield()
      }
    }

    private static func action(of number: Int32) -> sigaction {
      var action = sigaction()
      sigaction(number, nil, &action)
      return action
    }

    /// Returns the address of the process's handler of a signal; 0 for the default.
    private static func handler(of number: Int32) -> UInt {
      #if canImport(Darwin)
        return UInt(bitPattern: unsafeBitCast(action(of: number).__sigaction_u.__sa_handler, to: Int.self))
      #else
        return UInt(bitPattern: unsafeBitCast(action(of: number).__sigaction_handler.sa_handler, to: Int.self))
      #endif
    }

    @Test(
      "signals that can't be handled stop the program with a message",
      arguments: [[999], [9], [NSIG], [-1], [15, 0]] as [[Int32]])
    func trap(signals: [Int32]) async throws {
      let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [signals] in
        _ = try await Self.sequence().run(on: signals.map(LaunchSignal.init))
      }
      #expect(text(result.standardErrorContent).contains("run(on:) "))
    }

    @Test("a signal shuts the sequence down with exit code 0")
    func run() async {
      await #expect(processExitsWith: .exitCode(0)) {
        alarm(600)
        let journal = Journal()
        let (launch, former) = (try Self.sequence(journal), Self.handler(of: SIGTERM))
        Task {
          while Self.handler(of: SIGTERM) == former { await Task.yield() }
          try await launch.launch()
          kill(getpid(), SIGTERM)
        }
        let code = await launch.run()
        #expect(journal.entries == ["a", "-a"])
        exit(code)
      }
    }

    @Test("a signal during the launch rolls the launch back, with the exit code of shells")
    func duringLaunch() async {
      await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
        alarm(600)
        let journal = Journal()
        let launch = try LaunchSequence {
          note("a", journal)
          Do { _ in
            kill(getpid(), SIGTERM)
            try await Task.sleep(for: .seconds(1_000))
          }
          note("late", journal)
        }
        let code = await launch.run(on: [.terminate, .interrupt])
        #expect(journal.entries == ["a", "-a"])
        exit(code)
      }
    }

    @Test("after the run, a signal has its former handler, with the flags that it was set with")
    func restored() async {
      await #expect(processExitsWith: .success) {
        alarm(600)
        enum Heard { static let count = Atomic(0) }
        signal(SIGUSR1) { _ in Heard.count.add(1, ordering: .sequentiallyConsistent) }
        var action = Self.action(of: SIGUSR1)
        action.sa_flags = SA_ONSTACK
        sigaction(SIGUSR1, &action, nil)
        let flags = Self.action(of: SIGUSR1).sa_flags
        let (launch, former) = (try Self.sequence(), Self.handler(of: SIGUSR1))
        let running = Task { await launch.run(on: [.user1, .user2]) }
        while Self.handler(of: SIGUSR1) == former || !launch.isReady { await Task.yield() }
        kill(getpid(), SIGUSR1)
        #expect(await running.value == 0)
        #expect(Self.handler(of: SIGUSR1) == former)
        #expect(Self.action(of: SIGUSR1).sa_flags == flags)
        let count = Heard.count.load(ordering: .sequentiallyConsistent)
        await Self.send(SIGUSR1) { Heard.count.load(ordering: .sequentiallyConsistent) > count }
      }
    }

    @Test("a second signal ends the process while a step hangs", arguments: [0, 1])
    func second(round: Int) async {
      await #expect(processExitsWith: .signal(SIGTERM)) {
        alarm(600)
        let isStopping = AsyncLatch()
        let launch = try LaunchSequence {
          Do(whenShutDown: {
            isStopping.open()
            await AsyncLatch().wait()
          }) { _ in kill(getpid(), SIGTERM) }
        }
        Task {
          await isStopping.wait()
          await Self.send(SIGTERM) { false }
        }
        exit(await launch.run())
      }
    }

    @Test("a second signal calls the handler that was set before")
    func secondHandler() async {
      await #expect(processExitsWith: .exitCode(7)) {
        alarm(600)
        signal(SIGUSR1) { _ in _exit(7) }
        let isStopping = AsyncLatch()
        let launch = try LaunchSequence {
          Do(whenShutDown: {
            isStopping.open()
            await AsyncLatch().wait()
          }) { _ in kill(getpid(), SIGUSR1) }
        }
        Task {
          await isStopping.wait()
          await Self.send(SIGUSR1) { false }
        }
        exit(await launch.run(on: [.user1]))
      }
    }

    @Test("a second signal calls a handler that returns once")
    func returningHandler() async {
      await #expect(processExitsWith: .success) {
        alarm(600)
        enum Heard { static let count = Atomic(0) }
        signal(SIGUSR1) { _ in Heard.count.add(1, ordering: .sequentiallyConsistent) }
        let (isStopping, mayStop) = (AsyncLatch(), AsyncLatch())
        let launch = try LaunchSequence {
          Do(whenShutDown: {
            isStopping.open()
            await mayStop.wait()
          }) { _ in kill(getpid(), SIGUSR1) }
        }
        let running = Task { await launch.run(on: [.user1]) }
        await isStopping.wait()
        kill(getpid(), SIGUSR1)
        while Heard.count.load(ordering: .sequentiallyConsistent) == 0 { await Task.yield() }
        // What follows from the signal is done by a thread that began before these.
        for _ in 0..<200 {
          let hasRun = AsyncLatch()
          callOnThread { hasRun.open() }
          await hasRun.wait()
        }
        mayStop.open()
        _ = await running.value
        #expect(Heard.count.load(ordering: .sequentiallyConsistent) == 1)
      }
    }

    @Test("a first signal during a shutdown that something else began lets it go on")
    func firstDuringShutDown() async {
      await #expect(processExitsWith: .exitCode(1)) {
        alarm(600)
        let journal = Journal()
        let running = Mutex<LaunchSequence?>(nil)
        let launch = try LaunchSequence {
          Do(whenShutDown: {
            kill(getpid(), SIGTERM)
            let sequence = running.withLock(\.self)
            while sequence?.state.withLock({ $0.machine.hasSignal }) == false { await Task.yield() }
            journal.note("closed")
          }) { _ in }
          LaunchStep("server") { _ in
          } run: { _ in
            throw Broken()
          }
        }
        running.withLock { $0 = launch }
        let code = await launch.run()
        if journal.entries == ["closed"] { exit(code) }
      }
    }

    @Test("a signal that the process ignores stays ignored")
    func ignored() async {
      await #expect(processExitsWith: .exitCode(0)) {
        alarm(300)
        signal(SIGINT, SIG_IGN)
        let (journal, ignored) = (Journal(), Self.handler(of: SIGINT))
        let launch = try LaunchSequence(configuration: NoConfiguration()) {
          note("a", journal)
          Do { _ in
            kill(getpid(), SIGINT)
            journal.note(Self.handler(of: SIGINT) == ignored ? "ignored" : "handled")
            kill(getpid(), SIGTERM)
          }.deferred()
        }
        let code = await launch.run()
        #expect(journal.entries.prefix(2) == ["a", "ignored"])
        #expect(Self.handler(of: SIGINT) == ignored)
        exit(launch.state.withLock { $0.machine.reason } == "signal \(SIGTERM) came" ? code : 5)
      }
    }

    @Test("a handler that is set during a run stays when the run ends")
    func laterHandler() async {
      await #expect(processExitsWith: .success) {
        alarm(300)
        let launch = try Self.sequence()
        let former = Self.handler(of: SIGUSR1)
        let running = Task { await launch.run(on: [.user1]) }
        while Self.handler(of: SIGUSR1) == former || !launch.isReady { await Task.yield() }
        signal(SIGUSR1) { _ in }
        let later = Self.handler(of: SIGUSR1)
        await launch.shutDown()
        #expect(await running.value == 0)
        #expect(later != former && Self.handler(of: SIGUSR1) == later)
      }
    }

    @Test("two runs of a sequence count a signal once")
    func twice() async {
      await #expect(processExitsWith: .exitCode(0)) {
        alarm(600)
        let journal = Journal()
        let (launch, former) = (try Self.sequence(journal), Self.handler(of: SIGTERM))
        let other = Task { await launch.run() }
        Task {
          while Self.handler(of: SIGTERM) == former { await Task.yield() }
          try await launch.launch()
          while launch.state.withLock({ $0.machine.calls.all.count }) < 2 { await Task.yield() }
          kill(getpid(), SIGTERM)
        }
        let codes = [await launch.run(), await other.value]
        #expect(journal.entries == ["a", "-a"])
        exit(codes.max() ?? 1)
      }
    }

    @Test("the last of several listeners restores the signal's handler")
    func several() async {
      await #expect(processExitsWith: .signal(SIGTERM)) {
        alarm(600)
        let running = try (0..<3).map { _ in
          let launch = try Self.sequence()
          return Task { await launch.run(on: [.terminate, .terminate]) }
        }
        for task in running { task.cancel() }
        for task in running { _ = await task.value }
        // The signal is sent repeatedly, because the system chooses when and on which thread it ends the process.
        await Self.send(SIGTERM) { false }
      }
    }

    @Test("a run returns when the sequence is shut down elsewhere, and 1 if the launch fails")
    func otherwise() async throws {
      let journal = Journal()
      let launch = try LaunchSequence { note("a", journal) }
      try await launch.launch()
      let running = Task { await launch.run(on: [.user2]) }
      await launch.shutDown()
      #expect(await running.value == 0)
      let failing = try LaunchSequence(log: { _ in }) {
        Do { _ in throw Broken() }.id("bad")
      }
      #expect(await failing.run(on: [.user2]) == 1)
      #expect(failing.failure?.id == "bad")
    }

    @Test("a run whose task is cancelled shuts the sequence down")
    func cancelled() async throws {
      let journal = Journal()
      let launch = try LaunchSequence { note("a", journal) }
      try await launch.launch()
      let running = Task { await launch.run(on: [.user2]) }
      running.cancel()
      #expect(await running.value == 0)
      #expect(journal.entries == ["a", "-a"])
    }
  }
#endif
