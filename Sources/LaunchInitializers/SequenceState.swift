internal import SpellRegistry
internal import Support

/// The state machine of a sequence, with the tasks, timers, callers and streams that the machine's actions refer to.
struct SequenceState {
  var machine: LaunchMachine
  /// The registry that was current when a caller first launched the sequence; nil before that call.
  var registry: InitializerRegistry?
  /// The context of the step (of another sequence) that launched this sequence; nil if no step launched it.
  var outer: StepContext?
  /// The highest priority of the callers that wait for the launch; nil before the first such call.
  private var priority: TaskPriority?
  /// The priority for new tasks, if a later caller is more urgent than the one whose priority tasks inherit.
  private(set) var raisedPriority: TaskPriority?
  var tasks: [LaunchMachine.Job: Task<Void, Never>] = [:]
  private var timers: [LaunchMachine.Timer: SetTimer] = [:]
  /// The functions that cancel timers that aren't set anymore; they may run code of the sequence's clock.
  private var droppedTimers: [LaunchClock.Cancel] = []
  /// The callers that wait for an answer, and the answers that callers haven't received yet.
  ///
  /// The keys of both dictionaries are the numbers of the calls.
  var waiting: [Int: CheckedContinuation<LaunchMachine.Answer, Never>] = [:]
  var answers: [Int: LaunchMachine.Answer] = [:]
  /// The event streams that are still being read; the keys are the streams' numbers.
  var streams: [Int: AsyncStream<LaunchEvent>.Continuation] = [:]
  var lastStream = 0
  let log: LaunchLog
  var lastCall = 0

  init(_ machine: LaunchMachine, log: LaunchLog) { (self.machine, self.log) = (machine, log) }

  /// Passes an input to the machine, sends the resulting events to the streams and the log, and returns the actions.
  ///
  /// The caller must hold the sequence's lock, so that events and timers change in the order of the decisions.
  mutating func decide(_ input: LaunchMachine.Input, at time: Duration) -> [LaunchMachine.Action] {
    let actions = machine.handle(input, at: time)
    for action in actions {
      switch action {
      case .event(let event): send(event)
      case .schedule(let timer, let time):
        drop(timer)
        timers[timer] = SetTimer(time: time)
      case .unschedule(let timer): drop(timer)
      case .start, .cancel, .giveUp, .withdraw, .answer, .endProcess, .over: break
      }
    }
    return actions
  }

  /// Records that the code of a job begins, unless the job needn't run anymore.
  ///
  /// - Returns: The input that ends the job if it needn't run anymore, otherwise nil; and the products that the job has
  ///   to close before anything else.
  mutating func began(
    _ job: LaunchMachine.Job, at time: Duration
  ) -> (end: LaunchMachine.Input?, closing: [any StepProduct]) {
    let (end, products, events) = machine.began(job, at: time)
    for case .event(let event) in events { send(event) }
    return (end, products)
  }

  private func send(_ event: LaunchEvent) {
    for stream in streams.values { stream.yield(event) }
    if LaunchEvent.isLogged(event.kind, event.phase, event.message) { log.add(event) }
  }

  /// Records that a caller of a given priority waits for the launch, and returns the tasks that have to become as urgent.
  mutating func raisePriority(to new: TaskPriority) -> [Task<Void, Never>] {
    if let priority, priority >= new { return [] }
    if priority != nil { raisedPriority = new }
    priority = new
    return Array(tasks.values)
  }

  // MARK: Timers

  /// A timer that the machine has set; `cancel` is nil until the clock has the timer.
  private struct SetTimer {
    let time: Duration
    var cancel: LaunchClock.Cancel?
  }

  var timerCount: Int { timers.count }

  private mutating func drop(_ timer: LaunchMachine.Timer) {
    if let cancel = timers.removeValue(forKey: timer)?.cancel { droppedTimers.append(cancel) }
  }

  mutating func takeDroppedTimers() -> [LaunchClock.Cancel] {
    defer { droppedTimers = [] }
    return droppedTimers
  }

  mutating func dropAllTimers() {
    for timer in timers.keys { drop(timer) }
  }

  /// Stores the function that cancels a timer, and returns false if the timer has fired or isn't set anymore.
  mutating func store(_ cancel: @escaping LaunchClock.Cancel, for timer: LaunchMachine.Timer, at time: Duration) -> Bool
  {
    guard let set = timers[timer], set.time == time, set.cancel == nil else { return false }
    timers[timer]?.cancel = cancel
    return true
  }

  /// Forgets a timer that fires, and returns false if it wasn't set anymore.
  mutating func fires(_ timer: LaunchMachine.Timer, at time: Duration) -> Bool {
    if timers[timer]?.time != time { return false }
    timers[timer] = nil
    return true
  }
}
