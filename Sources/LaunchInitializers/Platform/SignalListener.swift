internal import Locking
internal import SpellRegistry

#if canImport(Dispatch)
  internal import Dispatch
#endif
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// Waits for one of some signals of the system.
///
/// From its making until the first of them they don't end the process; after that they do what they did before.
final class SignalStream: Sendable {
  private let arrivals: AsyncStream<Int32>
  private let arrival: AsyncStream<Int32>.Continuation

  init(_ signals: [Int32]) {
    (arrivals, arrival) = AsyncStream.makeStream()
    #if canImport(Dispatch) && !os(Windows)
      let arrival = arrival
      let queue = DispatchQueue(label: "LaunchInitializers.signals")
      let signals = Array(Set(signals))
      SignalHandlers.check(signals)
      // The sources hear of a signal beside its handler, which by default would end the process.
      for number in signals { SignalHandlers.ignore(number) }
      let sources = signals.map { number in
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { arrival.yield(number) }
        // Only when Dispatch is done with the signal: until then it sets handlers of its own, at a time of its own.
        source.setCancelHandler { SignalHandlers.restore(number) }
        source.resume()
        return source
      }
      let listening = Listening(sources)
      arrival.onTermination = { _ in listening.end() }
    #endif
  }

  /// Returns at the first signal, when the task is cancelled, or when the stream is finished.
  func first() async {
    for await _ in arrivals { break }
    arrival.finish()
  }

  /// Ends the waiting.
  func finish() { arrival.finish() }
}

#if canImport(Dispatch) && !os(Windows)
  /// The sources of a stream.
  private final class Listening: Sendable {
    private let sources: Lock<[any DispatchSourceSignal]>

    init(_ sources: sending [any DispatchSourceSignal]) { self.sources = Lock(sources) }

    func end() {
      sources.withLock { for source in $0 { source.cancel() } }
    }
  }

  /// The handlers that signals had before somebody waited for them, in the whole process: the first to wait takes a
  /// handler away, the last to end brings it back.
  private enum SignalHandlers {
    typealias Handler = @convention(c) (Int32) -> Void

    private struct Former {
      let handler: Handler?
      var waiting = 1
    }
    private static let former = Lock<[Int32: Former]>([:])

    /// - Precondition: There is a signal, and each is one that a program can wait for.
    static func check(_ signals: [Int32]) {
      if signals.isEmpty { trap("shutDown(on:) got no signal to wait for. Give it some, as in [SIGTERM, SIGINT].") }
      for number in signals where !(1...64).contains(number) || number == SIGKILL || number == SIGSTOP {
        trap("shutDown(on:) got \(number), which is no signal that a program can wait for, as SIGTERM and SIGINT are.")
      }
    }

    static func ignore(_ number: Int32) {
      former.withLock { former in
        if former[number] == nil {
          former[number] = Former(handler: signal(number, SIG_IGN))
        } else {
          former[number]?.waiting += 1
        }
      }
    }

    static func restore(_ number: Int32) {
      former.withLock { former in
        former[number]?.waiting -= 1
        guard let last = former[number], last.waiting == 0 else { return }
        _ = signal(number, last.handler)
        former[number] = nil
      }
    }
  }
#endif
