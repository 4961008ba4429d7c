internal import SpellRegistry

extension ElapsedClock {
  /// A task that calls `body` at that time, unless it is cancelled before.
  func timer(at time: Duration, _ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
      do {
        try await sleep(until: time)
      } catch {
        // A clock that won't wait is better taken as one whose time has come than as one that never comes.
        if Task.isCancelled { return }
      }
      body()
    }
  }
}
