internal import Synchronization

/// The values that one thread is making, the request that it is executing, and facts about the thread.
@safe struct ThreadState: ~Copyable {
  /// The thread's number, which the process never reuses.
  ///
  /// It is a multiple of `CreationGate.unit`, so its low bits are free for the tags in a gate's state.
  let id: UInt
  /// The thread's frames, the innermost last.
  ///
  /// Each frame is for a value that the thread is making, or for a call of `CurrentThread.with`.
  var frames = FrameStack()
  /// The turn of the task that is executing a request on the thread.
  var turn = Turn()
  /// A cache that says for each class whether it conforms to `InjectionObserver`, because a dynamic cast is slow.
  var observingClasses = AddressTable<Bool>()
  /// The address below which too little of the thread's stack is left to start another initializer; 0 if unknown.
  let stackLimit: UInt
  /// A copy of ``TaskID/reader``, which is read without the check whether it is initialized.
  let readTask: TaskID.Reader

  /// The state of an outermost request, from its beginning to its end.
  ///
  /// While a task executes a request, other tasks may have turns on the same thread, one inside the other, because a
  /// task can start an immediate task or run the main run loop.
  struct Turn {
    /// The task that is executing the request; not known before the request has pushed a frame on an idle thread.
    var task = TaskID(0)
    /// The resolution of the request.
    ///
    /// In a synchronous request, this is nil until the resolution has to store a value of scope `.graph` or a call of a
    /// completion hook.
    var resolution: Resolution?
    /// Whether an `onInjection` hook of a registration or registry is running.
    ///
    /// During that time, no injection of the task calls another such hook.
    var isInHook = false
  }

  init() {
    readTask = TaskID.reader
    id = Self.last.add(CreationGate.unit, ordering: .relaxed).newValue
    stackLimit = lowestUsableStackAddress()
  }

  deinit { frames.free() }

  private static let last = Atomic<UInt>(0)
}

extension CurrentThread {
  var id: UInt { fields.id }

  /// The thread's number, with which threads that are used at the same time choose different stripes of a lock.
  ///
  /// The threads of the process are numbered 1, 2, 3 and so on, in the order in which they first use this module.
  var number: Int { Int(truncatingIfNeeded: id / CreationGate.unit) }

  /// Returns whether objects of a class are ``InjectionObserver``s.
  func observes(_ type: any AnyObject.Type) -> Bool {
    if let known = fields.observingClasses.withValue(of: ObjectIdentifier(type), { $0 }) { return known }
    let observes = type is any InjectionObserver.Type
    _ = fields.observingClasses.insert(observes, for: ObjectIdentifier(type))
    return observes
  }

  /// The task that the thread is executing.
  @inline(__always) var task: TaskID { TaskID(fields.readTask()) }

  /// The innermost frame, if the calling task has pushed it.
  ///
  /// If another task has pushed the innermost frame, the calling task has pushed none since then. Its frames below, if
  /// it has any, aren't around the code that runs now.
  @inline(__always) var innermost: Frame? {
    guard let frame = fields.frames.last, frame.task == task else { return nil }
    return frame
  }

  /// The steps of the values that this thread is making, the outermost first.
  var steps: [InjectionStep] { fields.frames.compactMap(\.step) }

  var registry: InitializerRegistry? { innermost?.registry?.object }
  var registryNumber: UInt64? { innermost?.registry?.object.number }

  /// Whether a registry may keep what is made now, according to the innermost frame or else the task's context.
  var isKept: Bool { isKept(innermost, in: .current) }

  /// Returns whether a registry may keep what is made now, according to the innermost frame or else the context.
  @inline(__always) func isKept(_ innermost: Frame?, in context: @autoclosure () -> TaskContext?) -> Bool {
    if let isKept = innermost.flatMap(\.isKept) { return isKept }
    guard let isKept = context()?.isKept else { return false }
    // The innermost frame stores the answer, so that the context isn't read again for other objects made in the frame.
    if innermost != nil { fields.frames.note(isKept: isKept) }
    return isKept
  }

  /// Whether a registry may keep what is made in the innermost frame; nil if the task's context decides.
  ///
  /// - Precondition: The calling task is executing a request.
  @inline(__always) var innermostIsKept: Bool? {
    guard let frame = fields.frames.last, frame.task == fields.turn.task else { return nil }
    return frame.isKept
  }

  /// Returns the innermost async run on whose behalf the calling task makes values.
  ///
  /// Returns nil if there is no run, or if the innermost run is over.
  func run(in context: TaskContext? = .current) -> AsyncRun? {
    let run = runOfFrames ?? context?.run
    return run?.isOver ?? true ? nil : run
  }

  /// The innermost async run for which a frame of the calling task makes requests; nil if there is none.
  var runOfFrames: AsyncRun? {
    let task = task
    return fields.frames.reversed().prefix { $0.task == task }.first { $0.run != nil }?.run?.object
  }

  /// Runs `body` in a frame that makes no value.
  ///
  /// - Parameters:
  ///   - registry: The current registry in the frame; nil for the task's registry.
  ///   - isKept: Whether a registry may keep what is made in the frame; nil if the task's context decides.
  ///   - run: The async run on whose behalf the frame makes requests; nil for none.
  func with<Result, Failure>(
    _ registry: InitializerRegistry?, isKept: Bool?, run: AsyncRun? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var frame = Frame()
    frame.registry = registry.map { Borrowed($0) }
    frame.isKept = isKept
    frame.run = run.map { Borrowed($0) }
    // The frame doesn't retain its objects.
    defer { withExtendedLifetime((registry, run)) {} }
    return try inside(frame, body)
  }

  /// Runs `body` inside a frame.
  ///
  /// - Precondition: The calling task is executing a request. The caller keeps the objects that the frame refers to
  ///   alive until this call returns.
  @inline(__always) func inside<Result, Failure>(
    _ frame: Frame, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // A turn that begins on an idle thread learns its task only here, because most requests find a kept value.
    if fields.frames.isEmpty { fields.turn.task = task }
    fields.frames.append(frame, of: fields.turn.task)
    defer { fields.frames.removeLast() }
    return try body()
  }

  /// Returns `.cycle` if an outer frame is making the frame's value, `.stackExhausted` if too little of the stack is
  /// left, or else nil.
  @inline(__always) func obstacle(to frame: Frame) -> InjectionError.Code? {
    for outer in fields.frames where frame.repeats(outer) && outer.task == fields.turn.task { return .cycle }
    return isStackAddress(below: fields.stackLimit) ? .stackExhausted : nil
  }

  /// Returns the error to throw for an obstacle that prevents the making of a value.
  ///
  /// - Parameters:
  ///   - step: The value's request.
  ///   - made: The registration that makes the value; nil if it is the property's own code.
  @inline(never) func error(
    _ obstacle: InjectionError.Code, to step: InjectionStep, of made: Borrowed<RegistrationRecord>?
  ) -> InjectionError {
    if obstacle == .cycle { return InjectionError(.cycle, through: [step]) }
    // An exhausted stack also counts as a cycle if the thread has more than four unfinished runs of one initializer.
    // `obstacle(to:)` doesn't find a cycle if each of these runs is for a different property or object.
    let frames = fields.frames
    let repeated = made ?? frames.last { $0.record != nil }?.record
    let laps = frames.indices.filter { repeated != nil && frames[$0].record == repeated }
    guard laps.count > 4, let last = laps.last else { return InjectionError(.stackExhausted, through: [step]) }
    // A property's own expression has no registration. The error's steps then lead from the second-to-last run of the
    // repeated initializer to its last run.
    guard let record = made?.object else {
      return InjectionError(.cycle, through: frames[laps[laps.count - 2]...last].compactMap(\.step)).whole()
    }
    let advice = "The factory calls itself \(laps.count) times. If it is to come to an end, it needs a larger stack."
    // The steps from the initializer's last run to the new one are enough, because the cycle only repeats them.
    let steps = frames[last...].compactMap(\.step) + [step]
    return InjectionError(.cycle, through: steps, advice: record.isFactory ? advice : nil).whole()
  }

  /// Runs one request, as part of the resolution in progress or as a new resolution.
  ///
  /// - Parameters:
  ///   - memory: The memory for a value of type `type`. The value is destroyed if ``endResolution()`` throws.
  ///   - body: Puts a value in `memory`, and returns whether `memory` contains a value.
  @discardableResult @inline(__always) func resolving(
    _ memory: ValueMemory? = nil, of type: any Any.Type = Never.self, _ body: () throws(InjectionError) -> Bool
  ) throws(InjectionError) -> Bool {
    var (isOutermost, interrupted) = (true, ThreadState.Turn?.none)
    if !isIdle {
      let task = task
      isOutermost = fields.turn.task != task
      if isOutermost { (interrupted, fields.turn) = (fields.turn, ThreadState.Turn(task: task)) }
    }
    defer { if let interrupted { fields.turn = interrupted } }
    let isPut: Bool
    do throws(InjectionError) { isPut = try body() } catch {
      if isOutermost { try? endResolution() }
      throw error
    }
    if !isOutermost || fields.turn.resolution == nil { return isPut }
    do throws(InjectionError) { try endResolution() } catch {
      if isPut { memory?.destroy(type) }
      throw error
    }
    return isPut
  }

  @inline(__always) private var isIdle: Bool { fields.frames.isEmpty && fields.turn.resolution == nil }

  /// Runs `body` in a frame that makes no value, as part of a resolution and on behalf of an async run, if there is one.
  func continuing(
    _ resolution: Resolution, as run: AsyncRun?, _ body: () throws(InjectionError) -> Void
  ) throws(InjectionError) {
    let task = task
    let isInHook = !isIdle && fields.turn.task == task && fields.turn.isInHook
    let isKept = run?.isKept ?? isKept
    let interrupted = fields.turn
    fields.turn = ThreadState.Turn(task: task, resolution: resolution, isInHook: isInHook)
    defer { fields.turn = interrupted }
    try with(run?.registry, isKept: isKept, run: run, body)
  }

  /// Runs `body`, which calls hooks, so that all requests of the hooks belong to one resolution.
  func callingHooks(_ body: () -> Void) {
    // A completion hook that these hooks cause is called at the end of the resolution. If the resolution was created
    // only for the hooks, a `.cycle` error at its end is lost, because this function can't throw it.
    _ = try? resolving { () throws(InjectionError) in
      with(registry, isKept: innermostIsKept, body)
      return false
    }
  }

  /// Calls the completion hooks that were scheduled in the thread's resolution, and then releases the resolution.
  ///
  /// If the thread has no resolution, this does nothing. Requests that the hooks make still share the resolution's
  /// values of scope `.graph`. The hooks are also called if the request has failed, because values that were made
  /// before the error may have been kept.
  @inline(never) func endResolution() throws(InjectionError) {
    guard let resolution = fields.turn.resolution else { return }
    defer {
      // The resolution is released only after the thread's state no longer refers to it, because deinitializers may
      // resolve values.
      fields.turn.resolution = nil
      withExtendedLifetime(resolution) {}
    }
    try resolution.complete(on: self)
  }

  var resolution: Resolution {
    if let resolution = fields.turn.resolution { return resolution }
    let resolution = Resolution()
    fields.turn.resolution = resolution
    return resolution
  }
}

/// The calling thread's number; see ``CurrentThread/number``.
package var currentThreadNumber: Int { CurrentThread.current.number }
