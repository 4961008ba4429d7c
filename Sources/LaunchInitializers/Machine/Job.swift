// The jobs of the launch state machine, which run the code of steps, and the timers of the machine.

extension LaunchMachine {
  /// The purpose of one pass through the steps: the launch, a return to the foreground, or the shutdown.
  enum Purpose: Int, CaseIterable, Sendable {
    case launch, foreground, shutDown
  }

  /// One call of a step's code, such as an attempt to set the step up.
  struct Job: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      /// An attempt to set the step up, and the rollback of a failed attempt.
      case setUp, rollBack
      /// The question whether the step asks to be repeated, for a step that can't be repeated now.
      case ask
      /// A run of the step's service, and the call that asks the service to end.
      case run, stop
      /// The shutdown of the step.
      case shutDown
      /// The shutdown after an abandoned attempt that completed late, and the rollback after one that failed late.
      case undo, lateRollBack
      /// The closing of what an attempt made and doesn't need anymore.
      case close

      /// Whether the job cleans up after an attempt while the step goes on.
      var isAside: Bool { self == .undo || self == .lateRollBack || self == .close }
      /// Whether the job cleans up after an attempt, so that it runs even after the end of the sequence.
      var cleansUp: Bool { isAside || self == .rollBack }
      /// Whether the job may be retried if it got no thread.
      var isRetried: Bool { self == .setUp || self == .ask || self == .run }
    }

    let purpose: Purpose
    let kind: Kind
    let step: Int
    /// The number of the attempt or run, counted from 1.
    let number: Int

    /// Hashes only the step, because few jobs of one step are under way at once.
    func hash(into hasher: inout Hasher) { hasher.combine(step) }

    func with(_ kind: Kind) -> Job { Job(purpose: purpose, kind: kind, step: step, number: number) }
  }

  /// The outcome of a job.
  enum Result: Sendable {
    case completed
    /// The step had nothing to do, and isn't reported.
    case idle
    case skipped(String)
    /// The job threw an error.
    ///
    /// The error's text and the decision to retry are computed outside the sequence's lock, because both computations
    /// run user code.
    case failed(any Error, text: String, isRetryable: Bool)
  }

  enum Timer: Hashable, Sendable {
    /// The end of the time that a job may take; never set for a run of a service, because a service may run forever.
    case timeout(Job)
    /// The end of the time in which a service has to become ready.
    case readiness(Job)
    /// The end of the time within which a service has to end after it is asked to stop.
    case stop(Job)
    /// The end of the grace period within which a canceled job has to end.
    case grace(Job)
    /// The end of the pause before a step's next attempt, or before the next run of its service.
    case retry(Purpose, Int, attempt: Int), restart(Int, run: Int)
    /// The end of the time that the shutdown may take, and the end of the drain, which is the pause between a signal
    /// and the shutdown.
    case limit(Duration), drain
    /// A check whether a step has begun or ended in the last ten seconds.
    case watch

    /// The job whose time the timer limits; nil if the timer limits no job.
    var job: Job? {
      switch self {
      case .timeout(let job), .readiness(let job), .stop(let job), .grace(let job): job
      case .retry, .restart, .limit, .drain, .watch: nil
      }
    }
  }

  /// The fate of a job that is under way.
  enum Happening {
    /// The job's code begins.
    case began
    case ended(JobState, Result)
    /// The job hasn't ended within the grace period after its cancellation, which the fact says.
    case abandoned(JobState, StepFact)
  }

  /// The state of a job under way.
  struct JobState: Sendable {
    /// The cancellation of a job.
    enum Cancellation: Sendable {
      case none
      /// The task has yet to be canceled; `isLimited` says whether the job then has only the grace period to end.
      case decided(isLimited: Bool)
      case begun
    }

    let start: Duration
    /// The time that the job may take; nil if it may take any time.
    var timeout: Duration?
    var hasBegun = false
    var cancellation = Cancellation.none
    /// Whether the job has exceeded its time.
    var isLate = false
    /// The timers that are set for the job.
    var timers: [Timer] = []

    /// The time at which the job has to end; nil if it may take any time.
    var end: Duration? { timeout.map { start + $0 } }

    var isCancelled: Bool { if case .none = cancellation { false } else { true } }
  }
}
