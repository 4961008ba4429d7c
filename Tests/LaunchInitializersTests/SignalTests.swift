#if os(macOS) || os(Linux)
  import Foundation
  import LaunchInitializers
  import Synchronization
  import Testing

  @Suite("Waiting for signals", .timeLimit(.minutes(1))) struct SignalTests {
    private static func launched() async throws -> LaunchSequence {
      struct Nothing: Initializable { func perform(with configuration: any Configurable) {} }
      let launch = try LaunchSequence(configuration: LayeredConfiguration(stage: .test, layers: [])) { Nothing() }
      try await launch.launch()
      return launch
    }

    @Test(
      "for ones that can't be waited for stops the program with a sentence", arguments: [[], [999], [9]] as [[Int32]])
    func trap(signals: [Int32]) async throws {
      let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) { [signals] in
        _ = try await Self.launched().shutDown(on: signals)
      }
      #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("shutDown(on:) got "))
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

    @Test("keeps one from ending the process while it waits")
    func survived() async {
      await #expect(processExitsWith: .exitCode(42)) {
        alarm(60)
        let (launch, former) = (try await Self.launched(), Self.handler(of: SIGTERM))
        Task { await launch.shutDown(on: [SIGTERM]) }
        while Self.handler(of: SIGTERM) == former { await Task.yield() }
        kill(getpid(), SIGTERM)
        exit(42)
      }
    }

    @Test("shuts down at the first, and gives it back to the handler that it had")
    func heard() async {
      await #expect(processExitsWith: .success) {
        alarm(60)
        enum Heard { static let count = Atomic(0) }
        signal(SIGUSR1) { _ in Heard.count.add(1, ordering: .sequentiallyConsistent) }
        let former = Self.handler(of: SIGUSR1)
        let (launch, journal) = (try await Self.launched(), Journal())
        let waiting = Task {
          let report = await launch.shutDown(on: [SIGUSR1, SIGUSR2])
          journal.note("over")
          return report
        }
        while Self.handler(of: SIGUSR1) == former { await Task.yield() }
        // Sent until it is heard: it can be listened to a moment after it is kept from the handler.
        while journal.entries.isEmpty {
          kill(getpid(), SIGUSR1)
          await Task.yield()
        }
        #expect(await waiting.value.entries.map(\.id) == ["Nothing"])
        let count = Heard.count.load(ordering: .sequentiallyConsistent)
        while Heard.count.load(ordering: .sequentiallyConsistent) == count {
          kill(getpid(), SIGUSR1)
          await Task.yield()
        }
      }
    }

    @Test("two that wait for one signal both hear it")
    func both() async {
      await #expect(processExitsWith: .success) {
        let (one, two) = (try await Self.launched(), try await Self.launched())
        let first = Task { await one.shutDown(on: [SIGURG]) }
        let second = Task { await two.shutDown(on: [SIGURG]) }
        // Sent until both have heard, since neither tells when it begins to listen; SIGURG alone harms nobody.
        let sending = Task {
          while !Task.isCancelled {
            kill(getpid(), SIGURG)
            await Task.yield()
          }
        }
        _ = await (first.value, second.value)
        sending.cancel()
      }
    }

    @Test("leaves the signal as it was when the last of several that waited for it has ended")
    func restored() async {
      await #expect(processExitsWith: .signal(SIGTERM)) {
        alarm(60)
        let launches = [try await Self.launched(), try await Self.launched(), try await Self.launched()]
        let waiting = launches.map { launch in Task { await launch.shutDown(on: [SIGTERM, SIGTERM]) } }
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.value }
        // Sent until it arrives: a signal ends the process on a thread of the system's choosing, at a time of its own.
        while true {
          kill(getpid(), SIGTERM)
          await Task.yield()
        }
      }
    }
  }
#endif
