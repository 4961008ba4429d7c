// The inputs and actions of the launch state machine.

extension LaunchMachine {
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
    case start(Job)
    case cancel(Job)
    /// Ends an attempt, or a run of a service, that has got no thread.
    ///
    /// The step's failure policy, which may run user code, is asked outside the sequence's lock whether to retry.
    case giveUp(Job)
    case schedule(Timer, at: Duration), unschedule(Timer)
    /// Unregisters products of a step.
    case withdraw([any StepProduct])
    case event(LaunchEvent)
    case answer([Int], Answer)
    /// Ends the process because of a further signal, or calls the handler that the signal had before the sequence ran.
    case endProcess(Int32)
    /// Releases the timers, streams and registrations of the sequence, because the sequence is over.
    case over
  }
}
