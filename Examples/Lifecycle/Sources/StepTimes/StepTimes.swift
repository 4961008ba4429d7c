package import LaunchInitializers

/// The times at which steps began, for computing their durations.
package struct StepTimes {
  private struct Step: Hashable {
    let phase: LaunchEvent.Phase
    let id: String?
  }

  private var beginnings: [Step: Duration] = [:]

  package init() {}

  /// Records an event; returns the duration of a step if the event is its end, and nil for other events and for a step
  /// that never began.
  package mutating func duration(endingWith event: LaunchEvent) -> Duration? {
    let step = Step(phase: event.phase, id: event.id)
    switch event.kind {
    case .began(attempt: 1): beginnings[step] = event.time
    case .ended: return beginnings.removeValue(forKey: step).map { event.time - $0 }
    default: break
    }
    return nil
  }
}
