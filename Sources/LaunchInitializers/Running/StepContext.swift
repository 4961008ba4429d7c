internal import Synchronization

/// The step that a task is running, known to all that it calls: how a launch tells that it is called from itself.
final class StepContext: Sendable {
  @TaskLocal static var current: StepContext?

  let id: String
  private let sequence: ObjectIdentifier
  private let outer: StepContext?
  private let isOver = Atomic(false)

  /// - Parameter outer: The step that the launch was called from; not the one that happens to begin this one, or a
  ///   chain of steps would hold each other.
  init(_ id: String, of sequence: ObjectIdentifier, in outer: StepContext?) {
    self.id = id
    self.sequence = sequence
    self.outer = outer
  }

  /// Tells tasks that the step left behind that they no longer are in it.
  func end() { isOver.store(true, ordering: .releasing) }

  /// The step of that sequence that the caller is inside of; nil where it is in none.
  static func step(of sequence: LaunchSequence) -> StepContext? {
    let wanted = ObjectIdentifier(sequence)
    var context = current
    while let inner = context {
      if inner.sequence == wanted, !inner.isOver.load(ordering: .acquiring) { return inner }
      context = inner.outer
    }
    return nil
  }
}
