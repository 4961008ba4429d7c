/// Starts a task on the main actor, right here: what it does before it first waits is done when this returns.
///
/// - Precondition: The caller is on the main actor; it can't say so, since it also begins steps elsewhere.
func startImmediately(_ body: @escaping @MainActor @Sendable () async -> Void) -> Task<Void, Never> {
  MainActor.assumeIsolated {
    if #available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *) {
      return Task.immediate(operation: body)
    }
    // Within a task, where older systems can't start another one, the caller can await the launch just as well.
    guard withUnsafeCurrentTask(body: { $0 == nil }) else { return Task(operation: body) }
    return FirstPart.start(body)
  }
}
