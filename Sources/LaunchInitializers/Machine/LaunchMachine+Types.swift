// The words of the machine: what happens to it, and what it has done.

extension LaunchMachine {
  /// A purpose of a pass through the steps.
  enum Purpose: Int, Sendable {
    case launch, foreground, shutDown
  }

  /// One call of a step's code, in a task of its own.
  struct Job: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      /// An attempt to set the step up or to shut it down, and what undoes a failed one.
      case perform, rollBack
      /// A run of the step's service, and what asks it to end.
      case run, stop
      /// Shuts down what an abandoned attempt set up after all.
      case undo
    }

    let purpose: Purpose
    let kind: Kind
    let step: Int
    /// The number of the attempt or run, from 1.
    let number: Int

    /// By the step alone, of which few jobs are under way at once.
    func hash(into hasher: inout Hasher) { hasher.combine(step) }

    func with(_ kind: Kind) -> Job { Job(purpose: purpose, kind: kind, step: step, number: number) }
  }

  /// The outcome of a job.
  enum Result: Sendable {
    case completed
    /// The step had nothing to do, and isn't reported.
    case idle
    case skipped(String)
    /// The job threw an error, whose text isn't asked for under the lock; whether the step's policy retries it.
    case failed(any Error, text: String, isRetryable: Bool)
  }

  enum Timer: Hashable, Sendable {
    /// Ends the time that a job may take, and that a cancelled one may go on for.
    case timeout(Job), grace(Job)
    /// Ends the pause after an attempt of a step that failed, or after a run of its service.
    case retry(Purpose, Int, attempt: Int), restart(Int, run: Int)
    /// Ends the time that a shut-down may take, or that it waits after a signal.
    case limit(Duration), drain
    /// Asks whether anything has happened for a while.
    case watch
  }

  /// A call of the sequence's functions, which gets an answer.
  enum Call: Sendable {
    case launch
    /// Launches, and waits until the sequence is over.
    case run(drain: Duration, limit: Duration)
    case shutDown(within: Duration)
    case foreground

    var isLaunch: Bool { if case .launch = self { true } else { false } }
    var isRun: Bool { if case .run = self { true } else { false } }
    var isForeground: Bool { if case .foreground = self { true } else { false } }
  }

  enum Input: Sendable {
    case call(Int, Call)
    /// The task of a call was cancelled.
    case cancelled(Int)
    case ended(Job, Result)
    case ready(Job)
    /// The service of a job can only be cancelled.
    case cannotStop(Job)
    case fired(Timer)
    /// A signal, and its number among all arrivals of the process, since several calls may report one.
    case signal(Int32, arrival: Int)
    case background
  }

  /// The answer to a call.
  enum Answer: Sendable {
    case report(LaunchReport), error(LaunchError), exitCode(Int32)

    var report: LaunchReport { if case .report(let report) = self { report } else { .empty } }
  }

  enum Action: Sendable {
    case start(Job), cancel(Job)
    case schedule(Timer, at: Duration), unschedule(Timer)
    /// Withdraw the services that an attempt registered, or all of a step but those of one attempt.
    case withdraw(Job)
    case withdrawAll(Int, except: Job?)
    case event(LaunchEvent)
    case answer([Int], Answer)
    /// End the process, as the signal would have without the sequence.
    case endProcess(Int32)
    /// The sequence is over.
    case over
  }

  /// The reason for a shut-down.
  enum Cause: Sendable {
    /// A step failed, or its service did.
    case failed(Int, LaunchError.Code)
    case cancelled, asked, signal(Int32)
  }
}

/// The state of a step in a pass.
struct StepState: Sendable {
  enum Phase: Sendable {
    case waiting, running, done
    /// An attempt failed, and the next one begins after a pause.
    case pausing
    /// Its service isn't ready yet, or ends before the step is shut down.
    case readying, stopping
  }

  var phase = Phase.waiting
  /// The number of the latest attempt; 0 before the first.
  var attempt = 0
  /// Whether the step's code completed, so that it has to be shut down.
  var isUp = false
  /// Whether the latest attempt took longer than it may, and whether its error may be retried.
  var (isLate, isRetryable) = (false, true)
  var wasAbandoned = false
  /// Whether its service ignored its cancellation and may still be at work.
  var isServiceLeft = false
  /// Whether the step had nothing to do, and isn't reported.
  var isUnmentioned = false

  var (queued, start, end) = (Duration.zero, Duration.zero, Duration.zero)
  var outcome = LaunchReport.Outcome.notRun
  var message: String?
  /// The errors of the step, its service and its rollback, in order.
  var errors: [any Error] = []
  /// For an invisible node or a skipped step, the step because of which it didn't complete.
  var culprit: Int?
}

/// A service of a completed step.
struct ServiceState: Sendable {
  var run = 0
  var restarts: [Duration] = []
  /// Whether it is ready, was asked to end, or pauses before its next run.
  var (isReady, isStopping, isPausing) = (false, false, false)
}

/// One pass through the steps of a plan, forwards or backwards: who waits for whom, and who may begin.
struct Pass: Sendable {
  private(set) var (isUnderWay, isStopped) = (false, false)
  var steps: [StepState] = []
  /// The number of steps that have a slot: their jobs are under way.
  var running = 0
  var began = Duration.zero
  /// The number of nodes that have not settled, without the deferred ones and with them.
  private(set) var (left, deferredLeft) = (0, 0)
  /// For each node how many others it waits for.
  private var open: [Int] = []
  /// The nodes that may begin, from `next` on.
  private var (ready, next): ([Int], Int) = ([], 0)
  private var isReversed = false

  /// Begins the pass; returns the nodes that wait for nothing.
  mutating func begin(_ plan: LaunchPlan, isReversed: Bool, at time: Duration) -> [Int] {
    self = Pass()
    (isUnderWay, self.isReversed, began) = (true, isReversed, time)
    steps = Array(repeating: StepState(), count: plan.nodes.count)
    open = (isReversed ? plan.dependents : plan.dependencies).counts
    deferredLeft = plan.nodes.count(where: \.isDeferred)
    left = plan.nodes.count - deferredLeft
    let nodes = open.indices.filter { open[$0] == 0 }
    return isReversed ? nodes.reversed() : nodes
  }

  /// Notes that a node has settled; returns those that now wait for nothing.
  mutating func settled(_ node: Int, in plan: LaunchPlan) -> [Int] {
    if plan.nodes[node].isDeferred { deferredLeft -= 1 } else { left -= 1 }
    if isStopped { return [] }
    return (isReversed ? plan.dependencies : plan.dependents)[node].filter { dependent in
      open[dependent] -= 1
      return open[dependent] == 0
    }
  }

  mutating func makeReady(_ node: Int) { if !isStopped { ready.append(node) } }

  /// Takes the node that has been ready for the longest.
  mutating func popReady() -> Int? {
    guard next < ready.count else { return nil }
    defer { next += 1 }
    return ready[next]
  }

  /// Lets no further step begin.
  mutating func stop() {
    isStopped = true
    next = ready.count
  }

  /// Whether no step is under way or will begin.
  var isIdle: Bool { running == 0 && (isStopped || left + deferredLeft == 0) }

  mutating func end() { isUnderWay = false }
}
