internal import SpellRegistry

// What can be said about an initializer where it is listed; each makes a step of it.

extension Initializable {
  /// Gives the step a name, for others to refer to and for the report; without one it is its type's.
  ///
  /// - Parameters:
  ///   - id: The name, which no other step may have.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func id(_ id: String, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    LaunchStep(self).id(id, fileID: fileID, line: line)
  }

  /// Lets the step wait for those named, and for nothing else; with no name, it waits for nothing.
  ///
  /// - Parameters:
  ///   - ids: The steps to wait for, written before this one or after it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func after(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    LaunchStep(self).after(ids, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Lets those named wait for this step; it waits for nothing that it does not name itself.
  ///
  /// - Parameters:
  ///   - ids: The steps that wait for this one.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func before(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    LaunchStep(self).before(ids, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Says what becomes of the launch when the step fails; it is aborted otherwise.
  ///
  /// - Parameters:
  ///   - policy: What to do.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: A number of retries is at least 1, and their pause not negative.
  public func onFailure(_ policy: FailurePolicy, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    LaunchStep(self).onFailure(policy, fileID: fileID, line: line)
  }

  /// Limits how long one attempt may take; then it is cancelled, and abandoned where it does not heed that.
  ///
  /// - Parameters:
  ///   - duration: How long, on the sequence's clock. The step's shutting down may take as long.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: It is more than zero.
  public func timeout(_ duration: Duration, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    LaunchStep(self).timeout(duration, fileID: fileID, line: line)
  }

  /// Runs the step in these stages only; in others it is reported as skipped, and those that wait for it go on.
  ///
  /// - Parameters:
  ///   - stages: The stages. What counts is the configuration's stage when the sequence is made.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func only(in stages: ReleaseStage..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    LaunchStep(self).only(in: Set(stages), at: SourcePlace(fileID: fileID, line: line))
  }
}
