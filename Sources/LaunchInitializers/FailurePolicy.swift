/// What becomes of a launch when a step fails.
public enum FailurePolicy: Sendable, Hashable {
  /// The launch ends: what runs is cancelled, what completed is shut down, and ``LaunchSequence/launch()`` throws.
  ///
  /// The policy of a step that names none.
  case abort
  /// The step is reported as failed, and those that wait for it go on.
  case skip
  /// The step is tried again, up to that many times, each after that long; then it is as with ``abort``.
  ///
  /// While it waits, others may take its place. An attempt that ignores its cancellation and is abandoned is the last:
  /// it may still be at work, so it is not tried again beside it.
  case retry(Int, after: Duration)
}
