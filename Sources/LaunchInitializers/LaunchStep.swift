internal import SpellRegistry

/// An initializer in a ``LaunchSequence``, with what was said about it.
///
/// Made by the modifiers: `Database().id("db").after("log").timeout(.seconds(5))`.
public struct LaunchStep: Sendable {
  /// A step that was named, and where.
  struct Mention: Sendable {
    let id: String
    let place: SourcePlace
  }

  let initializer: any Initializable
  /// Where the step is written, as far as it is known.
  var place: SourcePlace?
  var name: Mention?
  var after: [Mention] = []
  var before: [Mention] = []
  /// Whether `after` or `before` was said, be it with no name.
  var declaresOrder = false
  var policy = FailurePolicy.abort
  var timeout: Duration?
  var stages: Set<ReleaseStage>?

  init(_ initializer: any Initializable, at place: SourcePlace? = nil) {
    self.initializer = initializer
    self.place = place
  }
}

extension LaunchStep {
  /// Gives the step a name, for others to refer to and for the report; without one it is its type's.
  ///
  /// - Parameters:
  ///   - id: The name, which no other step may have.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func id(_ id: String, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    return with(place) { $0.name = Mention(id: id, place: place) }
  }

  /// Lets the step wait for those named, and for nothing else.
  ///
  /// Said several times, all of them count. With no name, the step waits for nothing.
  ///
  /// - Parameters:
  ///   - ids: The steps to wait for, written before this one or after it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func after(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    after(ids, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Lets those named wait for this step; it waits for nothing that it does not name itself.
  ///
  /// - Parameters:
  ///   - ids: The steps that wait for this one.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func before(_ ids: String..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    before(ids, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Says what becomes of the launch when the step fails; it is aborted otherwise.
  ///
  /// - Parameters:
  ///   - policy: What to do.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: A number of retries is at least 1, and their pause not negative.
  public func onFailure(_ policy: FailurePolicy, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    if case .retry(let count, let pause) = policy {
      if count < 1 { trap("A step can't be retried \(count) times. Retry it at least once, or use .abort.", at: place) }
      if pause < .zero { trap("A step can't be retried after \(pause). Use a pause of zero or more.", at: place) }
    }
    return with(place) { $0.policy = policy }
  }

  /// Limits how long one attempt may take; then it is cancelled.
  ///
  /// When it then throws, it has failed. When it completes nevertheless within the sequence's `grace`, it counts as
  /// completed, with a note. When it goes on for longer, it is abandoned: it has failed, is named, and is not retried, since
  /// it may still be at work.
  ///
  /// The time begins with the step's turn and goes on while steps block every thread of the concurrency pool (a `sleep`,
  /// a lock, slow files) or the main actor: on the system's clocks a thread of its own keeps it, cancels and abandons.
  /// What then needs the pool comes when one of its threads is free: steps that are next, shutting down, the caller of
  /// ``LaunchSequence/launch()``. Other clocks are waited for in the pool. A step that took longer says so in any case,
  /// since its time is looked at when it ends.
  ///
  /// - Parameters:
  ///   - duration: How long, on the sequence's clock. The step's shutting down may take as long.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Precondition: It is more than zero.
  public func timeout(_ duration: Duration, fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    let place = SourcePlace(fileID: fileID, line: line)
    if duration <= .zero { trap("A step can't be done in \(duration). Use a timeout of more than zero.", at: place) }
    return with(place) { $0.timeout = duration }
  }

  /// Runs the step in these stages only; in others it is reported as skipped, and those that wait for it go on.
  ///
  /// - Parameters:
  ///   - stages: The stages. What counts is the configuration's stage when the sequence is made.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  public func only(in stages: ReleaseStage..., fileID: StaticString = #fileID, line: UInt = #line) -> LaunchStep {
    only(in: Set(stages), at: SourcePlace(fileID: fileID, line: line))
  }

  func after(_ ids: [String], at place: SourcePlace) -> LaunchStep {
    with(place) {
      $0.after += ids.map { Mention(id: $0, place: place) }
      $0.declaresOrder = true
    }
  }

  func before(_ ids: [String], at place: SourcePlace) -> LaunchStep {
    with(place) {
      $0.before += ids.map { Mention(id: $0, place: place) }
      $0.declaresOrder = true
    }
  }

  func only(in stages: Set<ReleaseStage>, at place: SourcePlace) -> LaunchStep { with(place) { $0.stages = stages } }

  private func with(_ place: SourcePlace, _ change: (inout LaunchStep) -> Void) -> LaunchStep {
    var step = self
    step.place = step.place ?? place
    change(&step)
    return step
  }
}

extension LaunchStep: CustomStringConvertible {
  /// The step's name, or its type's.
  public var description: String { name?.id ?? TypeName.of(type(of: initializer)) }
}
