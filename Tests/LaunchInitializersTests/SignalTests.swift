#if os(macOS) || os(Linux)
  import Foundation
  import LaunchInitializers
  import Synchronization
  import TestSupport
  import Testing

  /// Each in a process of its own, since a signal is for the whole process.
  @Suite("Signals", .timeLimit(.minutes(10))) struct SignalTests {
    private static func sequence(_ journal: Journal = Journal()) throws -> LaunchSequence {
      try LaunchSequence(configuration: LayeredConfiguration(stage: .test, layers: [])) { note("a", journal) }
    }

    /// Sends a signal until something has happened.
    private static func send(_ number: Int32, until hasHappened: () -> Bool) async {
      while !hasHappened() {
        kill(getpid(), number)
        await Task.yield()
      }
    }

    /// The address of what the process does at a signal; 0 where it is the default.
    private static func handler(of number: Int32) -> UInt {
      var action = sigaction()
      sigaction(number, nil, &action)
      #if canImport(Darwin)
        return UInt(bitPattern: unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self))
      #else
        return UInt(bitPattern: unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self))
      #endif
    }

    @Test(
      "signals that can't be handled stop the program with a message",
      arguments: [[], [999], [9], [NSIG], [-1], [15, 0]] as [[Int32]])
    func trap(signals: [Int32]) async throws {
      let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [signals] in
        _ = try await Self.sequence().run(on: signals.map(LaunchSignal.init))
      }
      #expect(text(result.standardErrorContent).contains("run(on:) "))
    }

    @Test("a signal shuts the sequence down with exit code 0")
    func run() async {
      await #expect(processExitsWith: .exitCode(0)) {
        alarm(60)
        let journal = Journal()
        let (launch, former) = (try Self.sequence(journal), Self.handler(of: SIGTERM))
        Task {
          while Self.handler(of: SIGTERM) == former { await Task.yield() }
          try await launch.launch()
          kill(getpid(), SIGTERM)
        }
        let code = try await launch.run(secondSignal: .ignore)
        #expect(journal.entries == ["a", "-a"])
        exit(code)
      }
    }

    @Test("a signal during the launch rolls the launch back, with the exit code of shells")
    func duringLaunch() async {
      await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
        alarm(60)
        let journal = Journal()
        let launch = try LaunchSequence(configuration: NoConfiguration()) {
          note("a", journal)
          Do { _ in
            kill(getpid(), SIGTERM)
            try await Task.sleep(for: .seconds(1_000))
          }
          note("late", journal)
        }
        let code = try await launch.run(on: [.terminate, .interrupt], secondSignal: .ignore)
        #expect(journal.entries == ["a", "-a"])
        exit(code)
      }
    }

    @Test("after the first signal, the former handler gets the signal")
    func restored() async {
      await #expect(processExitsWith: .success) {
        alarm(60)
        enum Heard { static let count = Atomic(0) }
        signal(SIGUSR1) { _ in Heard.count.add(1, ordering: .sequentiallyConsistent) }
        let (launch, former) = (try Self.sequence(), Self.handler(of: SIGUSR1))
        let running = Task { try await launch.run(on: [.user1, .user2]) }
        while Self.handler(of: SIGUSR1) == former || !launch.isReady { await Task.yield() }
        kill(getpid(), SIGUSR1)
        #expect(try await running.value == 0)
        let count = Heard.count.load(ordering: .sequentiallyConsistent)
        await Self.send(SIGUSR1) { Heard.count.load(ordering: .sequentiallyConsistent) > count }
      }
    }

    @Test("a second signal ends the process while a step hangs", arguments: [0, 1])
    func second(round: Int) async {
      await #expect(processExitsWith: .signal(SIGTERM)) {
        alarm(60)
        let isStopping = AsyncLatch()
        let launch = try LaunchSequence(configuration: NoConfiguration()) {
          Do(whenShutDown: {
            isStopping.open()
            await AsyncLatch().wait()
          }) { _ in kill(getpid(), SIGTERM) }
        }
        Task {
          await isStopping.wait()
          await Self.send(SIGTERM) { false }
        }
        exit(try await launch.run())
      }
    }

    @Test("a second signal ends the shut-down with exit code 1 if that is the policy")
    func secondEndsShutDown() async {
      await #expect(processExitsWith: .exitCode(1)) {
        alarm(60)
        let (isStopping, journal) = (AsyncLatch(), Journal())
        let launch = try LaunchSequence(configuration: NoConfiguration(), cancellationGracePeriod: .milliseconds(10)) {
          Do(whenShutDown: {
            isStopping.open()
            await AsyncLatch().wait()
          }) { _ in }
        }
        // For one that comes when the run is over.
        signal(SIGUSR2, SIG_IGN)
        let former = Self.handler(of: SIGUSR2)
        Task {
          while Self.handler(of: SIGUSR2) == former { await Task.yield() }
          try await launch.launch()
          await Self.send(SIGUSR2) { isStopping.isOpen }
          await Self.send(SIGUSR2) { !journal.entries.isEmpty }
        }
        let code = try await launch.run(on: [.user2], secondSignal: .endShutDown)
        journal.note("over")
        exit(code)
      }
    }

    @Test("the last of several listeners restores the signal's handler")
    func several() async {
      await #expect(processExitsWith: .signal(SIGTERM)) {
        alarm(60)
        let running = try (0..<3).map { _ in
          let launch = try Self.sequence()
          return Task { _ = try await launch.run(on: [.terminate, .terminate]) }
        }
        for task in running { task.cancel() }
        for task in running { _ = await task.result }
        // Sent until it arrives: a signal ends the process on a thread of the system's choosing, at a time of its own.
        await Self.send(SIGTERM) { false }
      }
    }

    @Test("a run returns when the sequence is shut down elsewhere, and throws what the launch throws")
    func otherwise() async throws {
      let journal = Journal()
      let launch = try LaunchSequence(configuration: NoConfiguration()) { note("a", journal) }
      let running = Task { try await launch.run(on: [.user2]) }
      try await launch.launch()
      await launch.shutDown()
      do {
        #expect(try await running.value == 0)
      } catch let error as LaunchError {
        // Shut down before it began to run.
        #expect(error.code == .shutDown)
      }
      let failing = try LaunchSequence(configuration: NoConfiguration()) { Do { _ in throw Broken() }.id("bad") }
      let error = await #expect(throws: LaunchError.self) { try await failing.run(on: [.user2]) }
      #expect(error?.id == "bad")
    }

    @Test("a run whose task is cancelled shuts the sequence down")
    func cancelled() async throws {
      let journal = Journal()
      let launch = try LaunchSequence(configuration: NoConfiguration()) { note("a", journal) }
      try await launch.launch()
      let running = Task { try await launch.run(on: [.user2]) }
      running.cancel()
      #expect(try await running.value == 0)
      #expect(journal.entries == ["a", "-a"])
    }
  }
#endif
