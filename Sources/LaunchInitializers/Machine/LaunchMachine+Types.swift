// The inputs and actions of the launch state machine, and the types that make up its state.

extension LaunchMachine {
  /// The purpose of one pass through the steps: the launch, a return to the foreground, or the shutdown.
  enum Purpose: Sendable {
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
      /// The shutdown of the step, and the shutdown after an abandoned attempt that completed late.
      case shutDown, undo
      /// The closing of what an attempt made and doesn't need anymore.
      case close

      /// Whether the job cleans up after an attempt, so that it runs even after the end of the sequence.
      var cleansUp: Bool {
        switch self {
        case .rollBack, .undo, .close: true
        case .setUp, .ask, .run, .stop, .shutDown: false
        }
      }
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

  /// A call to a method of `LaunchSequence`; the machine decides on the ``Answer`` to the call.
  enum Call: Sendable {
    case launch
    /// Launches the sequence, and waits until the sequence has been shut down.
    case run(drain: Duration, limit: Duration)
    case shutDown(within: Duration)
    case foreground

    var isLaunch: Bool { if case .launch = self { true } else { false } }
    var isRun: Bool { if case .run = self { true } else { false } }
    var isForeground: Bool { if case .foreground = self { true } else { false } }
  }

  enum Input: Sendable {
    /// A call and its number; the number is nil if the caller doesn't wait for the answer.
    case call(Int?, Call)
    /// The task that made the call with the given number was canceled.
    case cancelled(Int)
    case ended(Job, Result)
    /// The job was canceled before it began; `isRetryable` says whether the step's failure policy permits a retry.
    case unbegun(Job, isRetryable: Bool)
    case ready(Job)
    /// The step doesn't implement `stop()`, so its service has to be canceled.
    case cannotStop(Job)
    /// The job's task is being canceled, so the grace period begins.
    case isCancelled(Job)
    case fired(Timer)
    /// A signal arrived.
    ///
    /// `arrival` counts the signals of the process. If several `run` calls report the same signal, they report the same
    /// `arrival`.
    case signal(Int32, arrival: Int)
    case background
  }

  /// The answer to a call: a report to return, an error to throw, or an exit code to return.
  enum Answer: Sendable {
    case report(LaunchReport), error(LaunchError), exitCode(Int32)

    var report: LaunchReport { if case .report(let report) = self { report } else { .empty } }
  }

  enum Action: Sendable {
    /// Starts a job, which closes the given services of the step before anything else.
    case start(Job, closing: [any MadeService] = [])
    case cancel(Job)
    /// Ends an attempt, or a run of a service, that has got no thread.
    ///
    /// The step's failure policy, which may run user code, is asked outside the sequence's lock whether to retry.
    case giveUp(Job)
    case schedule(Timer, at: Duration), unschedule(Timer)
    /// Unregisters services of a step.
    case withdraw([any MadeService])
    case event(LaunchEvent)
    case answer([Int], Answer)
    /// Ends the process because of a further signal, or calls the handler that the signal had before the sequence ran.
    case endProcess(Int32)
    /// Releases the timers, streams and registrations of the sequence, because the sequence is over.
    case over
  }

  /// The reason for a shutdown.
  enum Cause: Sendable {
    /// A step or its service failed.
    case failed(Int, LaunchError.Code)
    case cancelled, asked, signal(Int32)
  }
}

/// The state of one step in one pass through the steps.
struct StepState: Sendable {
  enum Phase: Sendable {
    case waiting, running, done
    /// An attempt failed, and the next attempt begins after a pause.
    case pausing
    /// The step's service isn't ready yet.
    case readying
    /// The shutdown of the step waits until the step's service has ended and the step's abandoned attempt is undone.
    case stopping
  }

  var phase = Phase.waiting
  /// The number of the latest attempt, and the number of attempts whose code has begun.
  var (attempt, begun) = (0, 0)
  /// Whether the step's code has completed, so that the step has to be shut down.
  var isUp = false
  /// Whether the latest attempt exceeded its timeout, and whether the error of that attempt permits a retry.
  var (isLate, isRetryable) = (false, true)
  var wasAbandoned = false
  /// Whether the step's service ignored its cancellation and may still be running.
  var isServiceLeft = false
  /// Whether an abandoned attempt ended late, and its work is being undone or was undone.
  ///
  /// If true, the report of the shutdown lists the step.
  var isUndone = false
  /// Whether reports leave the step out, because the step had nothing to do.
  var isUnmentioned = false

  var (queued, start, end) = (Duration.zero, Duration.zero, Duration.zero)
  /// The latest time at which the step made progress, or was named in an event about a long wait.
  var lastSign = Duration.zero
  var outcome = LaunchReport.Outcome.notRun
  var message: String?
  /// The errors of the step, its service and its rollback, in order.
  var errors = ErrorList()
  /// The time limit of the step's shutdown, once that has begun.
  var time = Duration.zero
  /// The index of the step whose failure or skip caused this node to be skipped; nil if no step caused it.
  var culprit: Int?
}

/// The state of a step's service, after the step's own code has completed.
struct ServiceState: Sendable {
  var run = 0
  var restarts: [Duration] = []
  /// Whether the service is ready, whether it has been asked to end, and whether it pauses before its next run.
  var (isReady, isStopping, isPausing) = (false, false, false)
  /// Whether the current run is another attempt of the step, and hasn't begun.
  var isAttempt = false
  /// The time that the service had to end after it was asked to.
  var stopTime = Duration.zero
}

/// The unanswered calls, by number.
struct Calls: Sendable {
  private var calls: [Int: LaunchMachine.Call] = [:]
  /// The number of calls that wait for the launch, of which the last one's cancellation cancels the launch.
  private(set) var waitingForLaunch = 0

  subscript(id: Int) -> LaunchMachine.Call? { calls[id] }
  var all: [(key: Int, value: LaunchMachine.Call)] { calls.sorted { $0.key < $1.key } }

  mutating func add(_ call: LaunchMachine.Call, _ id: Int) {
    calls[id] = call
    if call.isLaunch || call.isRun { waitingForLaunch += 1 }
  }

  mutating func remove(_ id: Int) {
    guard let call = calls.removeValue(forKey: id) else { return }
    if call.isLaunch || call.isRun { waitingForLaunch -= 1 }
  }

  func ids(where isWanted: (LaunchMachine.Call) -> Bool) -> [Int] {
    calls.filter { isWanted($0.value) }.keys.sorted()
  }
}

/// The errors of several services of one attempt that were closed by one job.
struct SeveralErrors: Error, CustomStringConvertible {
  let all: [any Error]
  var description: String { all.map { "\($0)" }.joined(separator: "; ") }
}

/// The problems of a step's shutdown, including the problems of its service and of its abandoned attempt.
struct ShutDownProblems: Sendable {
  var message: String?
  var errors = ErrorList()
}

extension Duration {
  /// The time limit of a shutdown for which the program sets none.
  ///
  /// With the grace period, it is less than the 30 seconds after which Kubernetes kills a process by default.
  static let shutDownLimit = Duration.seconds(25)
}

/// A list of errors in order, without the middle part if there are more than 100 errors.
///
/// Without this limit, a service that restarts for months would fill the memory.
struct ErrorList: Sendable {
  /// The maximum number of errors in each half of the list: the first errors, and the latest errors.
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

/// One pass through the steps of a plan, forward or backward, with the steps that wait and the steps that may begin.
struct Pass: Sendable {
  private(set) var (isUnderWay, isStopped) = (false, false)
  var steps: [StepState] = []
  /// The number of steps that are being set up or shut down, at most the maximum number of concurrent steps.
  var running = 0
  var began = Duration.zero
  /// The number of nodes that aren't deferred and haven't ended, and the number of deferred nodes that haven't ended.
  private(set) var (left, deferredLeft) = (0, 0)
  /// For each node, the number of nodes that it still waits for.
  private var open: [Int] = []
  /// The nodes that may begin, in order, and the index of the first node in this queue that hasn't begun.
  private var (queue, next): ([Int], Int) = ([], 0)
  private var isReversed = false

  /// Begins the pass, and returns the nodes that wait for no other node.
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

  /// Records that a node has ended, and returns the nodes that waited only for that node.
  ///
  /// If the pass is stopped, returns no nodes.
  mutating func settled(_ node: Int, in plan: LaunchPlan) -> [Int] {
    if plan.nodes[node].isDeferred { deferredLeft -= 1 } else { left -= 1 }
    if isStopped { return [] }
    return (isReversed ? plan.dependencies : plan.dependents)[node].filter { dependent in
      open[dependent] -= 1
      return open[dependent] == 0
    }
  }

  mutating func enqueue(_ node: Int) { if !isStopped { queue.append(node) } }

  /// Removes and returns the node that has been in the queue for the longest time; returns nil if the queue is empty.
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

  /// Whether `running` is 0 and no further step will begin.
  var isIdle: Bool { running == 0 && (isStopped || left + deferredLeft == 0) }

  mutating func end() { isUnderWay = false }

  mutating func noteSign(of step: Int, at time: Duration) {
    if steps.indices.contains(step) { steps[step].lastSign = time }
  }
}
