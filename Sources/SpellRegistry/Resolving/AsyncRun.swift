internal import Support
internal import Synchronization

/// One run of an async initializer, together with the other runs that the run's task awaits.
///
/// A run is part of a cycle if it awaits itself, directly or through other runs, or if its initializer requests the
/// value that the run makes. A run counts as awaiting another run only if its own resolver or task makes the request.
///
/// Requests from another task that an initializer has started don't count, because the initializer may never await that
/// task. There is one exception. Let A be the run whose initializer has started the other task. A request from that
/// task completes a cycle if it is for A's value, or for a value whose initializer has requested A's value, directly or
/// through other runs.
final class AsyncRun: Sendable {
  typealias Initializer = @Sendable (ValueMemory, Resolver) async throws -> Void

  let provider: Provider
  private let name: String?
  /// Whether a registry may keep what is made in this run, which then holds its registry weakly.
  let isKept: Bool

  /// The state of a run.
  ///
  /// When the initializer ends, the run releases `asker` and `resolution`, because a task that the initializer has
  /// started may keep this run alive longer.
  private struct State: Sendable {
    /// The task in which the initializer runs; nil until the initializer starts.
    var task: TaskID?
    /// The run whose initializer requested this run's value; nil if there is none, or if this run is over.
    var asker: AsyncRun?
    /// The resolution that the run is part of; nil once the run is over.
    var resolution: Resolution?
    /// The runs that this run's task is awaiting, on behalf of this run or another run that executes in the task.
    ///
    /// Each is the last of a chain of runs that leads to it, without the first run of the task. The chain starts with the
    /// nested runs in the task, up to the run that made the request. Only the first run of a task uses this list.
    var awaited: [[AsyncRun]] = []
  }
  private let state: Lock<State>

  init(of provider: Provider, for request: AsyncRequest) {
    (self.provider, name) = (provider, request.name)
    isKept = provider.record.makesKept || CurrentThread.current.isKept || request.asker?.isKept ?? false
    state = Lock(State(asker: request.asker, resolution: request.resolution))
  }

  private var record: RegistrationRecord { provider.record }
  var registry: InitializerRegistry { provider.registry }
  /// The run as a step of an error's path.
  private var step: InjectionStep { Request(record.service, named: name).step(record) }
  var isOver: Bool { resolution == nil }
  /// The resolution that the run is part of; nil once the run is over.
  var resolution: Resolution? { state.withLock(\.resolution) }
  private var asker: AsyncRun? { state.withLock(\.asker) }

  /// The run whose initializer the current task itself executes; nil if there is none.
  ///
  /// A task that an initializer has merely started doesn't execute the initializer.
  static var ofThisTask: AsyncRun? {
    let thread = CurrentThread.current
    guard let run = thread.run(), run.state.withLock(\.task) == thread.task else { return nil }
    return run
  }

  /// Runs the initializer in the calling task, and puts the value in the memory of a cell, whose gate the caller settles.
  ///
  /// The run's registry is the current registry in the initializer.
  func makeValue(in cell: ValueCell, by initializer: Initializer) async throws {
    let task = CurrentThread.current.task
    state.withLock { $0.task = task }
    defer { end() }
    let point = Request(record.service, named: name).point
    let resolver = Resolver(point: point, registry: registry, run: self)
    let context = TaskContext(registry, run: self)
    defer { context.end() }
    try await TaskContext.$local.withValue(context) {
      try await initializer(cell.memory, resolver)
      if record.hasCompletions, let resolution {
        record.enqueueCompletions(of: cell.memory, at: point, in: registry, resolution)
      }
    }
  }

  private func end() {
    let former = state.withLock { state in
      let former = state
      (state.asker, state.resolution) = (nil, nil)
      return former
    }
    // The resolution is released with no lock held, because the deinitializers of its values may run any code.
    withExtendedLifetime(former) {}
  }

  /// Runs `body` as part of the run's resolution, or without that resolution if the run is over.
  func continuing(_ body: () throws(InjectionError) -> Void) throws(InjectionError) {
    guard let resolution else { return try body() }
    try CurrentThread.current.continuing(resolution, as: self, body)
  }

  // MARK: Cycles

  /// This run, the run that requested its value, and so on, ending before the first run that is over.
  private var lineage: [AsyncRun] { isOver ? [] : chain { $0.asker.flatMap { $0.isOver ? nil : $0 } } }

  /// This run, the run that `next` returns for it, and so on.
  private func chain(_ next: (AsyncRun) -> AsyncRun?) -> [AsyncRun] {
    var runs = [self]
    while let run = next(runs[runs.count - 1]) { runs.append(run) }
    return runs
  }

  /// Returns the runs that follow `other` in the chain of requests that led to this run.
  ///
  /// The last element is this run. The result is empty if `other` is this run, and nil if `other` isn't in the chain.
  private func path(from other: AsyncRun) -> [AsyncRun]? {
    let lineage = lineage
    return lineage.firstIndex { $0 === other }.map { lineage[..<$0].reversed() }
  }

  /// Returns the steps that led to this run, starting after the step of the run that is making a registration's value.
  ///
  /// The result is nil if neither this run nor a run that led to this run is making the value.
  func steps(fromMakerOf provider: Provider, named name: String?) -> [InjectionStep]? {
    lineage.first { $0.provider == provider && $0.name == name }.flatMap { path(from: $0) }?.map(\.step)
  }

  /// The runs that execute in this run's task, from the outermost run to this run.
  ///
  /// A run whose value isn't shared executes in the task of the run that requested the value.
  private var ofSameTask: [AsyncRun] { chain { $0.record.makesKept ? nil : $0.asker }.reversed() }

  /// The process-wide lock that is held while the lists of awaited runs are searched or changed.
  private static let awaiting = Lock(())

  /// Begins a wait for the end of this run, unless the wait would complete a cycle, and returns a closure that ends it.
  ///
  /// - Parameter asker: The run that makes the request; nil if no run does.
  /// - Throws: `.cycle` if this run waits for `asker`, directly or through other runs. If `asker` is nil, let A be the
  ///   unfinished run, if any, whose initializer started the calling task. In this case, `.cycle` if this run is A, or
  ///   if this run's initializer has requested A's value, directly or through other runs.
  func beginAwaiting(by asker: AsyncRun?) throws -> () -> Void {
    guard let asker else {
      guard let starter = CurrentThread.current.run() else { return {} }
      // The calling task is about to await this run. This run may be waiting for the initializer that has started the
      // calling task. If that initializer awaits the task, the run and the task would wait for each other forever.
      if let path = starter.path(from: self) { throw InjectionError(.cycle, through: path.map(\.step)) }
      let watch = Task.detached { [starter] in
        if (try? await Task.sleep(nanoseconds: 5_000_000_000)) != nil { starter.reportLongWait(for: self) }
      }
      return { watch.cancel() }
    }
    // Requests from other tasks can join only the first run of the task, because the later runs make values that aren't
    // shared. The first run therefore records all runs that the task awaits.
    let task = asker.ofSameTask
    if let path = Self.awaiting.withLock({ _ in asker.await(self, in: task) }) {
      throw InjectionError(.cycle, through: path.map(\.step))
    }
    return { Self.awaiting.withLock { _ in task[0].endAwaiting(self) } }
  }

  /// Records that this run awaits `other`, and returns nil.
  ///
  /// If the wait would complete a cycle, the function records nothing and returns the cycle's runs after `other`.
  ///
  /// - Parameter task: The runs that execute in this run's task; see ``ofSameTask``.
  private func await(_ other: AsyncRun, in task: [AsyncRun]) -> [AsyncRun]? {
    if let cycle = cycle(through: other) { return cycle }
    task[0].state.withLock { $0.awaited.append(task.dropFirst() + [other]) }
    return nil
  }

  /// Returns the runs after `other` of the cycle that a wait of this run for `other` would complete; nil if there is none.
  private func cycle(through other: AsyncRun) -> [AsyncRun]? {
    var seen: Set<ObjectIdentifier> = []
    var paths = [[other]]
    while let path = paths.popLast(), let last = path.last {
      // A run also waits for the runs whose values its initializer has requested, so `last` may wait for this run.
      if let rest = self.path(from: last) { return path.dropFirst() + rest }
      for next in last.state.withLock(\.awaited) where seen.insert(ObjectIdentifier(next[next.count - 1])).inserted {
        paths.append(path + next)
      }
    }
    return nil
  }

  /// Reports on standard error that a task that this run's initializer has started has waited five seconds for `other`,
  /// if that run waits for this one.
  ///
  /// It is no error, because the initializer may not await the task. Which task awaits which can't be found out.
  private func reportLongWait(for other: AsyncRun) {
    guard let cycle = Self.awaiting.withLock({ _ in cycle(through: other) }) else { return }
    let steps = ([self, other] + cycle).map(\.step)
    writeToStandardError(
      """
      Spellbook: a task that the async initializer of \(steps[0].typeName) started has waited 5 seconds for \
      \(steps[1].typeName), which waits for \(steps[0].typeName): \(steps.map(\.typeName).joined(separator: " → ")). If the \
      initializer awaits that task, neither ever ends. Ask in the initializer itself, with its resolver, which throws the \
      error of the cycle; or don't await the task. Registered at \(steps[0].registration ?? "") and \
      \(steps[1].registration ?? "").

      """)
  }

  private func endAwaiting(_ other: AsyncRun) {
    state.withLock { state in
      if let index = state.awaited.firstIndex(where: { $0.last === other }) { state.awaited.remove(at: index) }
    }
  }
}
