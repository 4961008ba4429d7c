internal import Support
internal import Synchronization

/// The state of one outermost request: its values of scope `.graph`, and the completion hooks to call at its end.
///
/// The requests that initializers make during the outermost request belong to the same resolution.
///
/// The ``ThreadState`` holds the resolution while its thread resolves a value. An async initializer may move between
/// threads, so its ``AsyncRun`` also holds the resolution.
final class Resolution: Sendable {
  /// A scheduled call of a completion hook, which is due at the end of the resolution.
  private typealias Completion = (
    run: @Sendable () -> Void, registry: InitializerRegistry, isKept: Bool, chain: [RegistrationRecord]
  )

  private struct State: Sendable {
    var graph: [Provider: ValueCell] = [:]
    var completions: [Completion] = []
    /// The registrations whose completion hooks led, one after another, to the hook that is running now.
    ///
    /// The last element is the registration of the running hook.
    var chain: [RegistrationRecord] = []
    /// The number of calls of completion hooks so far that were caused by other completion hooks.
    var nestedCount = 0
    /// The number of unfinished participants: the outermost request, and each async run that makes a kept value.
    ///
    /// The runs may continue after the outermost request is canceled.
    var participantCount = 1
  }

  private let state = Lock(State())

  private static let longestChain = 100
  private static let mostNested = 10_000

  /// Returns the cell that all requests of the resolution share for the value of a provider.
  ///
  /// - Parameter make: Creates the cell for the first request, with a lock held.
  func sharedCell(of provider: Provider, make: () -> ValueCell) -> ValueCell {
    state.withLock { state in
      let cell = state.graph[provider] ?? make()
      state.graph[provider] = cell
      return cell
    }
  }

  func sharedCell(of provider: Provider) -> ValueCell {
    sharedCell(of: provider) { ValueCell(provider.record.service.type) }
  }

  /// Whether the resolution has the value of a provider.
  func hasValue(of provider: Provider) -> Bool { state.withLock { $0.graph[provider]?.gate.isReady ?? false } }

  /// Drops the cell of an async run that is over, so that the next request gets a new cell and begins another run.
  func drop(_ cell: ValueCell, of provider: Provider) {
    let dropped = state.withLock { state -> ValueCell? in
      guard state.graph[provider] === cell, !cell.gate.isReady else { return nil }
      return state.graph.removeValue(forKey: provider)
    }
    withExtendedLifetime(dropped) {}
  }

  /// Schedules `run`, which calls a completion hook of `record`, for the end of the resolution.
  func atEnd(
    of record: RegistrationRecord, in registry: InitializerRegistry, isKept: Bool,
    _ run: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.completions.append((run, registry, isKept, state.chain + [record]))
    }
  }

  /// Records that an async run takes part in the resolution until the run calls ``leave(as:)``.
  func join() { state.withLock { $0.participantCount += 1 } }

  /// Records that a participant, which is the outermost request or an async run, has ended.
  ///
  /// If no participant is left, this function calls the completion hooks.
  ///
  /// - Parameter run: The async run on whose behalf the hooks are called; nil if there is none.
  /// - Throws: The error of ``complete(on:)``.
  func leave(as run: AsyncRun?) throws(InjectionError) {
    let isLast = state.withLock { state in
      state.participantCount -= 1
      return state.participantCount == 0
    }
    guard isLast else { return }
    try CurrentThread.current.continuing(self, as: run) { () throws(InjectionError) in try complete(on: .current) }
  }

  /// Calls the completion hooks, and all further completion hooks that these cause, with no lock held.
  ///
  /// - Throws: `.cycle` if the hooks seem to cause each other without end. This is the case if more than 100 calls of
  ///   hooks form one chain, or if hooks have caused more than 10,000 further calls. The remaining hooks aren't called
  ///   in this case.
  func complete(on thread: CurrentThread) throws(InjectionError) {
    while true {
      // The calls are removed from the state before they run, so that their values are released with no lock held. A
      // value's deinitializer may schedule more calls.
      let calls = state.withLock { state in
        defer { state.completions = [] }
        return state.completions
      }
      if calls.isEmpty { return }
      for next in calls {
        let isEndless = state.withLock { state in
          if next.chain.count > 1 { state.nestedCount += 1 }
          state.chain = next.chain
          return next.chain.count > Self.longestChain || state.nestedCount > Self.mostNested
        }
        if isEndless { throw InjectionError.endless(next.chain) }
        thread.with(next.registry, isKept: next.isKept, next.run)
      }
    }
  }
}
