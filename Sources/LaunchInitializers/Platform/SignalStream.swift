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
      // The sources hear of a signal beside its handler, which by default would end the process.
      let former = signals.map { number in (number, signal(number, SIG_IGN)) }
      let sources = signals.map { number in
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { arrival.yield(number) }
        source.resume()
        return source
      }
      let restoring = Restoring(former, sources)
      arrival.onTermination = { _ in restoring.run() }
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
  /// What brings the signals back to what they did before.
  ///
  /// `@unchecked Sendable`: the handlers are C function pointers, and neither they nor the sources ever change; a source
  /// may be cancelled from any thread.
  private final class Restoring: @unchecked Sendable {
    typealias Handler = (@convention(c) (Int32) -> Void)?

    private let former: [(number: Int32, handler: Handler)]
    private let sources: [any DispatchSourceSignal]

    init(_ former: [(Int32, Handler)], _ sources: [any DispatchSourceSignal]) {
      self.former = former.map { (number: $0, handler: $1) }
      self.sources = sources
    }

    func run() {
      for source in sources { source.cancel() }
      for (number, handler) in former { _ = signal(number, handler) }
    }
  }
#endif
