internal import Synchronization

/// The values that one thread is making, the resolution that they belong to, and facts about the thread.
@safe struct ThreadState: ~Copyable {
  /// The thread's number, never reused in the process; a multiple of `CreationGate.unit`, to leave room for tags.
  let id: UInt
  /// The frames of the values that the thread is making, the innermost last.
  var frames = FrameStack()
  /// The resolution in progress; created only when there is something to keep in it.
  var resolution: Resolution?
  /// Whether a hook of a registration or registry is running, during which injections call no such hooks.
  var isInHook = false
  /// A cache of the classes that conform to `InjectionObserver`, since a dynamic cast is slow.
  var observingClasses = AddressTable<Bool>()
  /// The address below which too little of the thread's stack is left to make anything.
  let stackLimit: UInt

  init() {
    id = Self.last.add(CreationGate.unit, ordering: .relaxed).newValue
    stackLimit = lowestUsableStackAddress()
  }

  deinit { frames.free() }

  private static let last = Atomic<UInt>(0)
}

extension CurrentThread {
  var id: UInt { fields.id }

  /// Returns whether objects of a class are ``InjectionObserver``s.
  func observes(_ type: any AnyObject.Type) -> Bool {
    if let known = fields.observingClasses.withValue(of: ObjectIdentifier(type), { $0 }) { return known }
    let observes = type is any InjectionObserver.Type
    _ = fields.observingClasses.put(observes, for: ObjectIdentifier(type))
    return observes
  }

  /// A summary of each value that is being made, the outermost first.
  var making: [FrameSummary] {
    fields.frames.filter { $0.record != nil || $0.gate != nil }.map { frame in
      FrameSummary(
        type: ErasedType(frame.type), record: frame.record?.object,
        gates: [frame.gate, frame.propertyGate].compactMap(\.self))
    }
  }

  var registry: InitializerRegistry? { fields.frames.last?.registry?.object }
  var registryNumber: UInt64? { fields.frames.last?.registry?.object.number }

  /// Whether objects made now hold their registry weakly, as the innermost frame or else the task's context says.
  var linksWeakly: Bool { linksWeakly(in: .current) }

  @inline(__always) func linksWeakly(in context: @autoclosure () -> TaskContext?) -> Bool {
    if let linksWeakly = innermostLinksWeakly { return linksWeakly }
    guard let linksWeakly = context()?.linksWeakly else { return false }
    // The other objects that this frame makes don't read the task's context again.
    fields.frames.note(linksWeakly: linksWeakly)
    return linksWeakly
  }

  /// Whether objects made in the innermost frame hold their registry weakly; nil if the task's context decides.
  @inline(__always) var innermostLinksWeakly: Bool? { fields.frames.last.flatMap(\.linksWeakly) }

  /// The innermost async run on whose behalf this thread or its task makes values, unless that run is over.
  func run(in context: TaskContext? = .current) -> AsyncRun? {
    let run = fields.frames.last { $0.run != nil }?.run?.object ?? context?.run
    return run?.isOver ?? true ? nil : run
  }

  /// Runs `body` inside a frame that makes no value, with a registry as the current one or, for nil, the task's.
  func with<Result, Failure>(
    _ registry: InitializerRegistry?, linksWeakly: Bool?, run: AsyncRun? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var frame = Frame(type: Never.self)
    frame.registry = registry.map { Borrowed($0) }
    frame.linksWeakly = linksWeakly
    frame.run = run.map { Borrowed($0) }
    defer { withExtendedLifetime((registry, run)) {} }
    return try inside(frame, body)
  }

  /// Runs `body` inside a frame, whose objects the caller keeps alive until this call returns.
  @inline(__always) func inside<Result, Failure>(
    _ frame: Frame, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    fields.frames.append(frame)
    defer { fields.frames.removeLast() }
    return try body()
  }

  /// Returns the reason not to make a frame's value: an outer frame makes the same value, or too little of the stack is
  /// left.
  @inline(__always) func obstacle(to frame: Frame) -> InjectionError.Code? {
    if let record = frame.record {
      for other in fields.frames
      where other.record == record && other.registry == frame.registry && frame.asker.needs(other.asker) {
        return .cycle
      }
    }
    return isStackAddress(below: fields.stackLimit) ? .stackExhausted : nil
  }

  /// Returns the error for an obstacle to a frame, at a step.
  @inline(never) func error(
    _ obstacle: InjectionError.Code, to frame: Frame, at step: InjectionStep
  ) -> InjectionError {
    if obstacle == .cycle { return InjectionError(.cycle, through: [step]) }
    // An exhausted stack is a cycle, too, if one initializer is running many times, each time for another property or
    // object.
    let making = making
    let records = making.map { $0.record.map { ObjectIdentifier($0) } }
    let own = frame.record.map { ObjectIdentifier($0.object) }
    let record = own ?? records.last { $0 != nil } ?? nil
    let laps = records.indices.filter { record != nil && records[$0] == record }
    guard laps.count > 4, let last = laps.last else { return InjectionError(.stackExhausted, through: [step]) }
    // A property's own frame has no registration, so the last complete pass through the cycle ends at the last
    // registration.
    if own == nil { return InjectionError(.cycle, through: making[laps[laps.count - 2]...last].map(\.step)).whole() }
    let isFactory = frame.record?.object.initializer.isFactory ?? false
    let advice = "The factory calls itself \(laps.count) times. If it is to come to an end, it needs a larger stack."
    // The error has only the steps of the last pass through the cycle, because every pass has the same steps.
    return InjectionError(.cycle, through: making[last...].map(\.step) + [step], advice: isFactory ? advice : nil)
      .whole()
  }

  /// Runs one request, as a new resolution or as part of the one in progress.
  ///
  /// - Parameters:
  ///   - memory: The memory for a value of the type; the value is destroyed if a completion throws.
  ///   - body: Puts a value in `memory`, and returns whether it did.
  @discardableResult @inline(__always) func resolving(
    _ memory: ValueMemory? = nil, of type: any Any.Type = Never.self, _ body: () throws(InjectionError) -> Bool
  ) throws(InjectionError) -> Bool {
    let isPart = !isIdle
    let isPut: Bool
    do throws(InjectionError) { isPut = try body() } catch {
      if !isPart { try? endResolution() }
      throw error
    }
    if isPart || fields.resolution == nil { return isPut }
    do throws(InjectionError) { try endResolution() } catch {
      if isPut { memory?.destroy(type) }
      throw error
    }
    return isPut
  }

  /// Runs `body`, which calls hooks, so that their requests belong to one resolution.
  func callingHooks(_ body: () -> Void) {
    // A completion that a hook causes runs at the end of that resolution; the hooks' caller has no use for its error.
    _ = try? resolving { () throws(InjectionError) in
      with(registry, linksWeakly: innermostLinksWeakly, body)
      return false
    }
  }

  /// Ends the resolution, if there is one: runs its completions, which still share its values, and releases it.
  ///
  /// This also happens after an error, because values that were made before the error may have been kept.
  @inline(never) func endResolution() throws(InjectionError) {
    guard let resolution = fields.resolution else { return }
    defer {
      // The resolution is released after the thread has given it up, because deinitializers may resolve values.
      fields.resolution = nil
      withExtendedLifetime(resolution) {}
    }
    try resolution.complete(on: self)
  }

  var isIdle: Bool { fields.frames.isEmpty && fields.resolution == nil }

  var resolution: Resolution {
    if let resolution = fields.resolution { return resolution }
    let resolution = Resolution()
    fields.resolution = resolution
    return resolution
  }
}
