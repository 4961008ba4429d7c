internal import Support
internal import Synchronization

/// One run of an async initializer, and the tasks that await its value.
///
/// A run is part of a cycle if it awaits itself, directly or through other runs, or if its initializer requests the
/// value that the run makes. A run is known to await another only if its resolver or its own task asks for it. Other
/// tasks that the initializer starts count only if they ask for the run's own value, since it may never await them.
final class AsyncRun: Sendable {
  /// An error for a task that asked for the value just after the run was cancelled, and so has to begin another run.
  struct Abandoned: Error {}

  typealias Initializer = @Sendable (ValueMemory, Resolver) async throws -> Void

  let record: RegistrationRecord
  let registry: InitializerRegistry
  let resolution: Resolution
  private let name: String?
  /// The run whose initializer began this run.
  private let asker: AsyncRun?
  /// Whether new objects refer to their registry weakly, because a registry may keep them.
  private let isKept: Bool
  /// The number of times that the kept value had been dropped when this run was created.
  let resetCount: Int

  private struct State: Sendable {
    /// The task in which the initializer runs.
    var task: TaskID?
    var isOver = false
    /// The task that makes a value for all waiters, if the scope shares the value.
    var maker: Task<Void, Never>?
    var isBegun = false
    var waiters: [Int: CheckedContinuation<ValueCell, any Error>] = [:]
    var lastWaiter = 0
    var result: Result<ValueCell, any Error>?
    var isAbandoned = false
    /// The runs whose values this run awaits now: its initializer, or a run in the same task.
    var awaited: [Await] = []
  }
  private let state = Lock(State())

  private struct Await: Sendable {
    /// The runs in the task of the awaiting one, from the one after it to the one that asked, and the awaited run.
    let path: [AsyncRun]
    var other: AsyncRun { path[path.count - 1] }
  }

  /// The runs that execute in this run's task, from the one that a task was created for to this one.
  ///
  /// A run whose value isn't shared executes in the task of its asker.
  private var ofSameTask: [AsyncRun] {
    sequence(first: self) { $0.record.kept == nil ? $0.asker : nil }.reversed()
  }

  init(
    _ record: RegistrationRecord, for registry: InitializerRegistry, named name: String?, asker: AsyncRun?,
    _ resolution: Resolution, resetCount: Int = 0
  ) {
    (self.record, self.registry, self.name, self.asker) = (record, registry, name, asker)
    isKept = if case .unique = record.lifetime { asker?.isKept ?? false } else { true }
    (self.resolution, self.resetCount) = (resolution, resetCount)
  }

  var isAbandoned: Bool { state.withLock(\.isAbandoned) }
  private var isOver: Bool { state.withLock(\.isOver) }

  /// This run, its asker, that run's asker, and so on, up to the first one that has ended.
  private var lineage: some Sequence<AsyncRun> { sequence(first: self) { $0.asker }.prefix { !$0.isOver } }

  /// Returns whether this run or one of its askers makes the value of a request.
  func isMaking(_ record: RegistrationRecord, for registry: InitializerRegistry, named name: String?) -> Bool {
    lineage.contains { $0.record === record && $0.registry === registry && $0.name == name }
  }

  /// The run whose initializer the current task executes; nil in other tasks that the initializer has started.
  static var ofThisTask: AsyncRun? {
    guard let run = TaskContext.current?.run, !run.isOver, run.state.withLock({ $0.task }) == .current else {
      return nil
    }
    return run
  }

  /// Runs the initializer in the calling task, with the run's registry as the current one.
  func perform(_ initializer: Initializer) async throws -> ValueCell {
    let cell = ValueCell(record.service.type)
    state.withLock { $0.task = .current }
    defer { state.withLock { $0.isOver = true } }
    let point = Request(record.service, named: name).point
    let resolver = Resolver(point: point, registry: registry, run: self)
    let context = TaskContext(registry, run: self, isKept: isKept)
    defer { context.end() }
    try await TaskContext.$local.withValue(context) { try await initializer(cell.memory, resolver) }
    if record.hasCompletions {
      record.enqueueCompletions(of: cell.memory, at: point, in: registry, isKept: isKept, resolution)
    }
    cell.gate.settle(as: CreationGate.ready)
    return cell
  }

  /// Runs `body` on the calling thread as part of a resolution, on behalf of a run.
  static func continuing(
    _ resolution: Resolution, as run: AsyncRun?, _ body: () throws(InjectionError) -> Void
  ) throws(InjectionError) {
    let thread = CurrentThread.current
    let former = thread.fields.resolution
    thread.fields.resolution = resolution
    defer { thread.fields.resolution = former }
    try thread.with(run?.registry, isKept: run?.isKept ?? false, run: run, body)
  }

  func continuing(_ body: () throws(InjectionError) -> Void) throws(InjectionError) {
    try Self.continuing(resolution, as: self, body)
  }

  // MARK: The tasks that await the value

  func beginOnce(_ begin: () -> Task<Void, Never>) {
    let isFirst = state.withLock { state in
      defer { state.isBegun = true }
      return !state.isBegun
    }
    guard isFirst else { return }
    let task = begin()
    let isAbandoned = state.withLock { state in
      state.maker = task
      return state.isAbandoned
    }
    if isAbandoned { task.cancel() }
  }

  func end(with result: Result<ValueCell, any Error>) {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      state.result = result
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// Returns the value once the run has made it.
  ///
  /// - Throws: The initializer's error; `.cycle` if this run waits, directly or through others, for `asker`, or if the
  ///   initializer of this run started the calling task and still runs; `.cancelled` if the calling task is cancelled.
  func value(for asker: AsyncRun?) async throws -> ValueCell {
    do { return try await sharedValue(for: asker) } catch let error as InjectionError {
      throw asker === self.asker ? error : completed(error)
    }
  }

  /// Returns an error of this run as a task gets it that didn't begin the run.
  ///
  /// If a cycle leads back to an asker of this run, the error gains the steps from that asker to this run on its way out,
  /// but only in the asker's task. So they are added here.
  private func completed(_ error: InjectionError) -> InjectionError {
    guard error.code == .cycle, let last = error.steps.last else { return error }
    if error.steps.dropLast().contains(where: last.isLike) { return error }
    let runs = Array(sequence(first: self, next: \.asker).prefix { !$0.record.step.isLike(last) })
    if runs.last?.asker == nil { return error }
    return InjectionError(.cycle, through: error.steps + runs.reversed().map(\.record.step))
  }

  private func sharedValue(for asker: AsyncRun?) async throws -> ValueCell {
    if let asker {
      if let path = Self.awaiting.withLock({ _ in asker.await(self) }) {
        throw InjectionError(.cycle, through: path.map(\.record.step))
      }
    } else if let run = TaskContext.current?.run, run === self, !isOver {
      // The caller is a task that the initializer started. If the initializer awaits that task, both wait forever.
      throw InjectionError(.cycle, through: [])
    }
    defer { if let asker { Self.awaiting.withLock { _ in asker.endAwaiting(self) } } }
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (result, maker) = state.withLock { state -> (Result<ValueCell, any Error>?, Task<Void, Never>?) in
          if state.isAbandoned { return (.failure(Abandoned()), nil) }
          if let result = state.result { return (result, nil) }
          if Task.isCancelled {
            if state.waiters.isEmpty { state.isAbandoned = true }
            let error = InjectionError(.cancelled, through: [], underlying: CancellationError())
            return (.failure(error), state.isAbandoned ? state.maker : nil)
          }
          state.waiters[id] = continuation
          return (nil, nil)
        }
        maker?.cancel()
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let (waiter, maker) = state.withLock {
        state -> (CheckedContinuation<ValueCell, any Error>?, Task<Void, Never>?) in
        let waiter = state.waiters.removeValue(forKey: id)
        if waiter == nil || !state.waiters.isEmpty { return (waiter, nil) }
        state.isAbandoned = true
        return (waiter, state.maker)
      }
      maker?.cancel()
      waiter?.resume(throwing: InjectionError(.cancelled, through: [], underlying: CancellationError()))
    }
  }

  /// The process-wide lock that guards the record of which run awaits which.
  private static let awaiting = Lock(())

  /// Records that this run awaits another one, or, if that makes a cycle, returns the cycle's runs after the other one.
  private func await(_ other: AsyncRun) -> [AsyncRun]? {
    var seen: Set<ObjectIdentifier> = []
    var paths = [[other]]
    while let path = paths.popLast(), let last = path.last {
      // A run also waits for the runs that its initializer began.
      if sequence(first: self, next: \.asker).contains(where: { $0 === last && !$0.isOver }) {
        return Array(path.dropFirst())
      }
      for next in last.state.withLock(\.awaited) where seen.insert(ObjectIdentifier(next.other)).inserted {
        paths.append(path + next.path)
      }
    }
    // Other runs can only await the first run of the task, so that one has to tell what the task awaits.
    let task = ofSameTask
    task[0].state.withLock { $0.awaited.append(Await(path: task.dropFirst() + [other])) }
    return nil
  }

  private func endAwaiting(_ other: AsyncRun) {
    ofSameTask[0].state.withLock { state in
      if let index = state.awaited.firstIndex(where: { $0.other === other }) { state.awaited.remove(at: index) }
    }
  }
}

extension ValueCell {
  /// Returns a cell with the value wrapped in an Optional, or in several nested ones.
  func wrapped(as type: any Any.Type) -> ValueCell {
    guard let optional = type as? any OptionalValue.Type else { return self }
    let inner = optional.wrappedType == self.type ? self : wrapped(as: optional.wrappedType)
    let cell = ValueCell(type)
    optional.putSome(inner.memory, in: cell.memory)
    cell.gate.settle(as: CreationGate.ready)
    return cell
  }
}
