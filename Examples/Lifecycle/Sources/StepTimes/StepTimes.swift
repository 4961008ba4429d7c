package import LaunchInitializers

/// The start times of launch steps, for computing the steps' durations.
package struct StepTimes {
  private struct Step: Hashable {
    let phase: LaunchEvent.Phase
    let id: String?
  }

  private var beginnings: [Step: Duration] = [:]

  package init() {}

  /// Records an event, and returns the duration of the step that the event ends.
  ///
  /// Returns nil for other events, and for a step that never began.
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
