// The inputs and actions of the machine, and the parts of its state.

extension LaunchMachine {
  /// A purpose of a pass through the steps.
  enum Purpose: Sendable {
    case launch, foreground, shutDown
  }

  /// One call of a step's code, such as an attempt to set the step up.
  struct Job: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      /// An attempt to set the step up, and the rollback of a failed attempt.
      case setUp, rollBack
      /// A run of the step's service, and the call that asks the service to end.
      case run, stop
      /// The shutdown of the step, and the shutdown after an abandoned attempt that completed late.
      case shutDown, undo
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
    /// The job threw an error. Its text, and whether to retry, are determined outside the lock, because both run user
    /// code.
    case failed(any Error, text: String, isRetryable: Bool)
  }

  enum Timer: Hashable, Sendable {
    /// The end of the time that a job may take; a run of a service may take any time.
    case timeout(Job)
    /// The end of the time in which a service has to become ready.
    case readiness(Job)
    /// The end of the time in which a service has to end after a stop.
    case stop(Job)
    /// The end of the time that a canceled job has left.
    case grace(Job)
    /// The end of the pause before a step's next attempt, or before the next run of its service.
    case retry(Purpose, Int, attempt: Int), restart(Int, run: Int)
    /// The end of the time that a shutdown may take, or of the drain before it.
    case limit(Duration), drain
    /// A check whether a step has begun or ended in the last ten seconds.
    case watch

    /// The job whose time the timer limits; nil if the timer is for something else.
    var job: Job? {
      switch self {
      case .timeout(let job), .readiness(let job), .stop(let job), .grace(let job): job
      case .retry, .restart, .limit, .drain, .watch: nil
      }
    }
  }

  /// A call of one of the sequence's methods, which waits for an answer.
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
    /// The task of a call was canceled.
    case cancelled(Int)
    case ended(Job, Result)
    case ready(Job)
    /// The step doesn't implement `stop()`, so its service has to be canceled.
    case cannotStop(Job)
    case fired(Timer)
    /// A signal, and the number of its arrival in the process, because several calls may report one arrival.
    case signal(Int32, arrival: Int)
    case background
  }

  /// The answer to a call: a report, an error or an exit code.
  enum Answer: Sendable {
    case report(LaunchReport), error(LaunchError), exitCode(Int32)

    var report: LaunchReport { if case .report(let report) = self { report } else { .empty } }
  }

  enum Action: Sendable {
    case start(Job), cancel(Job)
    case schedule(Timer, at: Duration), unschedule(Timer)
    /// Withdraws the services that an attempt registered, or all services of a step except those of one attempt.
    case withdraw(Job)
    case withdrawAll(Int, except: Job?)
    case event(LaunchEvent)
    case answer([Int], Answer)
    /// Ends the process, or calls the handler that the signal had before the sequence.
    case endProcess(Int32)
    /// Releases what the sequence holds, because it is over.
    case over
  }

  /// The reason for a shutdown.
  enum Cause: Sendable {
    /// A step or its service failed.
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
    /// The step's service isn't ready yet.
    case readying
    /// The step is shut down after its service and the undoing of its abandoned attempt have ended.
    case stopping
  }

  var phase = Phase.waiting
  /// The number of the latest attempt; 0 before the first.
  var attempt = 0
  /// Whether the step's code has completed, so that the step has to be shut down.
  var isUp = false
  /// Whether the latest attempt exceeded its timeout, and whether the step may be retried after its error.
  var (isLate, isRetryable) = (false, true)
  var wasAbandoned = false
  /// Whether the step's service ignored its cancellation and may still be running.
  var isServiceLeft = false
  /// Whether an abandoned attempt has ended, and its work is being undone or was undone, so that the shutdown reports
  /// the step.
  var isUndone = false
  /// Whether reports leave the step out, because it had nothing to do.
  var isUnmentioned = false

  var (queued, start, end) = (Duration.zero, Duration.zero, Duration.zero)
  var outcome = LaunchReport.Outcome.notRun
  var message: String?
  /// The errors of the step, its service and its rollback, in order.
  var errors = ErrorList()
  /// The step that kept this step or point from completing; nil if there is none.
  var culprit: Int?
}

/// The state of the service of a step whose own code has completed.
struct ServiceState: Sendable {
  var run = 0
  var restarts: [Duration] = []
  /// Whether the service is ready, has been asked to end, or pauses before its next run.
  var (isReady, isStopping, isPausing) = (false, false, false)
}

/// The problems of a step's shutdown, which begin with those of its service and of its abandoned attempt.
struct ShutDownProblems: Sendable {
  var message: String?
  var errors = ErrorList()
}

/// A list of errors in order; of very many errors, the first ones and the latest ones, because a service that restarts
/// for months would otherwise fill the memory.
struct ErrorList: Sendable {
  /// The maximum number of first errors, and of latest errors.
  static let part = 50

  private var first: [any Error] = []
  private var latest: [any Error] = []

  var all: [any Error] { first + latest }

  mutating func append(_ error: any Error) {
    if first.count < Self.part { return first.append(error) }
    if latest.count == Self.part { latest.removeFirst() }
    latest.append(error)
  }
}

/// The passes through the steps of a plan, one for each purpose.
struct Passes: Sendable {
  var launch = Pass()
  var foreground = Pass()
  var shutDown = Pass()

  subscript(purpose: LaunchMachine.Purpose) -> Pass {
    _read {
      switch purpose {
      case .launch: yield launch
      case .foreground: yield foreground
      case .shutDown: yield shutDown
      }
    }
    _modify {
      switch purpose {
      case .launch: yield &launch
      case .foreground: yield &foreground
      case .shutDown: yield &shutDown
      }
    }
  }
}

/// One pass through the steps of a plan, forward or backward: the steps that wait, and those that may begin.
struct Pass: Sendable {
  private(set) var (isUnderWay, isStopped) = (false, false)
  var steps: [StepState] = []
  /// The number of steps that are being set up or shut down, at most the maximum number of concurrent steps.
  var running = 0
  var began = Duration.zero
  /// The number of nodes that haven't ended and aren't deferred, and the number of those that are deferred.
  private(set) var (left, deferredLeft) = (0, 0)
  /// For each node, the number of nodes that it waits for and that haven't ended.
  private var open: [Int] = []
  /// The nodes that may begin, in order; those from index `next` on have not begun.
  private var (queue, next): ([Int], Int) = ([], 0)
  private var isReversed = false

  /// Begins the pass, and returns the nodes that wait for nothing.
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

  /// Records that a node has ended, and returns the nodes that now wait for nothing.
  mutating func settled(_ node: Int, in plan: LaunchPlan) -> [Int] {
    if plan.nodes[node].isDeferred { deferredLeft -= 1 } else { left -= 1 }
    if isStopped { return [] }
    return (isReversed ? plan.dependencies : plan.dependents)[node].filter { dependent in
      open[dependent] -= 1
      return open[dependent] == 0
    }
  }

  mutating func enqueue(_ node: Int) { if !isStopped { queue.append(node) } }

  /// Removes the node that has waited in the queue for the longest time, and returns it; nil if the queue is empty.
  mutating func dequeue() -> Int? {
    guard next < queue.count else { return nil }
    defer { next += 1 }
    return queue[next]
  }

  /// Prevents further steps from beginning.
  mutating func stop() {
    isStopped = true
    next = queue.count
  }

  /// Whether no step is under way or will begin.
  var isIdle: Bool { running == 0 && (isStopped || left + deferredLeft == 0) }

  mutating func end() { isUnderWay = false }
}
