internal import Support
internal import Synchronization

/// The state of one request from outside, which ends with it: the values of scope `.graph`, and the completions that wait for
/// its end.
///
/// A thread has one while it resolves; an async resolution is carried by its resolvers from thread to thread.
final class Resolution: Sendable {
  struct GraphKey: Hashable {
    let record: ObjectIdentifier
    let registry: ObjectIdentifier
  }

  /// A value, with what its key names, which must not go before it.
  private struct GraphValue: Sendable {
    let cell: ValueCell
    let record: RegistrationRecord
    let registry: InitializerRegistry
  }

  /// A call that waits for the end.
  private struct Completion: Sendable {
    let run: @Sendable () -> Void
    /// The registry that is current meanwhile.
    let registry: InitializerRegistry
    /// Whether a registry keeps the value.
    let isKept: Bool
    /// The registrations whose completions led to it.
    let chain: [RegistrationRecord]
  }

  private struct State: Sendable {
    var graph: [GraphKey: GraphValue] = [:]
    var completions: [Completion] = []
    /// The registrations of the completion that runs, outermost first.
    var chain: [RegistrationRecord] = []
    /// The number of completions that other completions began.
    var nestedCount = 0
  }

  private let state = Lock(State())

  private static let longestChain = 100
  private static let mostNested = 10_000

  /// Copies the value that a registration has made for a registry in this resolution.
  func copyGraphValue(of record: RegistrationRecord, for registry: InitializerRegistry, to memory: ValueMemory) -> Bool
  {
    guard let cell = graphCell(of: record, for: registry) else { return false }
    memory.copy(cell.type, from: cell.memory)
    return true
  }

  /// The cell of an awaited value.
  func graphCell(of record: RegistrationRecord, for registry: InitializerRegistry) -> ValueCell? {
    state.withLock {
      $0.graph[GraphKey(record: ObjectIdentifier(record), registry: ObjectIdentifier(registry))]?.cell
    }
  }

  func keepGraphValue(_ memory: ValueMemory, of record: RegistrationRecord, for registry: InitializerRegistry) {
    let key = GraphKey(record: ObjectIdentifier(record), registry: ObjectIdentifier(registry))
    let cell = ValueCell(record.service.type)
    cell.memory.copy(cell.type, from: memory)
    cell.gate.settle(as: CreationGate.ready)
    let value = GraphValue(cell: cell, record: record, registry: registry)
    // The former value, which was made further in for another asker, is released with no lock held.
    let former = state.withLock { $0.graph.updateValue(value, forKey: key) }
    withExtendedLifetime(former) {}
  }

  /// Leaves a call for the end of the resolution.
  func atEnd(
    of record: RegistrationRecord, in registry: InitializerRegistry, isKept: Bool, _ run: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.completions.append(
        Completion(run: run, registry: registry, isKept: isKept, chain: state.chain + [record]))
    }
  }

  /// Runs the completions, and those that they lead to, with no lock held.
  ///
  /// - Throws: `.cycle` if they begin each other without end.
  func complete(on thread: CurrentThread) throws(InjectionError) {
    while true {
      // Taken out, so that values are released with no lock held; their deinitializers may leave more.
      let calls = state.withLock { state in
        defer { state.completions = [] }
        return state.completions
      }
      if calls.isEmpty { return }
      for next in calls {
        let isEndless = state.withLock { state in
          if next.chain.count > 1 { state.nestedCount += 1 }
          state.chain = next.chain
          return next.chain.count > Self.longestChain || state.nestedCount > Self.mostNested
        }
        if isEndless { throw InjectionError.endless(next.chain) }
        thread.with(next.registry, isKept: next.isKept, next.run)
      }
    }
  }
}

/// The values that one thread is making.
@safe struct ThreadState: ~Copyable {
  /// Never used again in the process, in units that leave room for a gate's tags.
  let id: UInt
  /// The frames of the values that the thread is making, the innermost last.
  var frames: [Frame] = []
  /// The resolution under way, made when it has something to keep.
  var resolution: Resolution?
  /// Whether a hook of a registration or a registry runs: no hook is called for what it injects.
  var isInHook = false
  /// A cache of the classes that conform to `InjectionObserver`, since a dynamic cast is slow.
  var observingClasses: [Address: Bool] = [:]
  /// The address below which too little of the thread's stack is left to make anything.
  let stackLimit: UInt

  init() {
    id = Self.last.add(CreationGate.unit, ordering: .relaxed).newValue
    stackLimit = lowestUsableStackAddress()
  }

  private static let last = Atomic<UInt>(0)
}

/// One value that a thread is making.
///
/// Frames tell cycles, the current registry, and whether a registry keeps what is made. They count no references: the
/// function that pushes one holds what it names until it pops it.
struct Frame {
  let type: any Any.Type
  /// The registration whose initializer runs; nil for a property's own expression and for a frame that only separates.
  var record: Borrowed<RegistrationRecord>?
  /// The registry that is current meanwhile; nil for the task's.
  var registry: Borrowed<InitializerRegistry>?
  var asker = Asker()
  /// Whether what is made refers to its registry weakly, since a registry keeps it.
  var isKept = false
  /// The gates at which other threads wait for the value: the registration's and the property's.
  var gate: UInt?
  var propertyGate: UInt?
  /// The async initializer in which everything further in is asked for.
  var run: Borrowed<AsyncRun>?

  /// The identity that two requests for one registration share if they need each other's result.
  struct Asker {
    var container: ObjectIdentifier?
    var property: UInt?
    var name: Borrowed<Alias>?
    /// Arguments can't be compared, so a request with arguments is like no other.
    var hasArguments = false

    @inline(__always) func needs(_ other: Asker) -> Bool {
      container == other.container && property == other.property && !hasArguments
        && (name == other.name || name?.object.name == other.name?.object.name)
    }
  }
}

/// A frame as other threads may see it.
struct FrameSummary: Sendable {
  let type: ErasedType
  let record: RegistrationRecord?
  var gates: [UInt] = []
  var located: InjectionStep?

  var step: InjectionStep { located ?? record?.step ?? InjectionStep(Service(type.type)) }
}

extension CurrentThread {
  var id: UInt { fields.id }

  /// Whether objects of a class are ``InjectionObserver``s.
  func observes(_ type: any AnyObject.Type) -> Bool {
    if let known = fields.observingClasses[Address(id: ObjectIdentifier(type))] { return known }
    let observes = type is any InjectionObserver.Type
    fields.observingClasses[Address(id: ObjectIdentifier(type))] = observes
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

  /// The registry that the innermost frame makes current.
  var registry: InitializerRegistry? { fields.frames.last?.registry?.object }

  /// Whether a registry keeps what is made now.
  var isMakingKept: Bool { fields.frames.last?.isKept ?? false }

  /// Runs `body` with a frame that separates it from what runs further out.
  func with<Result, Failure>(
    _ registry: InitializerRegistry?, isKept: Bool, run: AsyncRun? = nil, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var frame = Frame(type: Never.self)
    frame.registry = registry.map { Borrowed($0) }
    frame.isKept = isKept
    frame.run = run.map { Borrowed($0) }
    fields.frames.append(frame)
    defer {
      fields.frames.removeLast()
      withExtendedLifetime((registry, run)) {}
    }
    return try body()
  }

  /// The reason not to begin what a frame is for: the same is being made further out, or too little of the stack is left.
  @inline(__always) func obstacle(to frame: Frame) -> InjectionError.Code? {
    if let record = frame.record {
      for other in fields.frames
      where other.record == record && other.registry == frame.registry && frame.asker.needs(other.asker) {
        return .cycle
      }
    }
    return isStackAddress(below: fields.stackLimit) ? .stackExhausted : nil
  }

  /// The error for an obstacle at a step.
  @inline(never) func error(
    _ obstacle: InjectionError.Code, to frame: Frame, at step: InjectionStep
  ) -> InjectionError {
    if obstacle == .cycle { return InjectionError(.cycle, through: [step]) }
    // A cycle, too, if one registration's initializer runs over and over, each time for another asker.
    let making = making
    let records = making.map { $0.record.map { ObjectIdentifier($0) } }
    let record = frame.record.map { ObjectIdentifier($0.object) }
    let laps = records.indices.filter { record != nil && records[$0] == record }
    guard laps.count > 4, let last = laps.last else { return InjectionError(.stackExhausted, through: [step]) }
    // The steps further out are left out: each lap is like the last one.
    return InjectionError(.cycle, through: making[last...].map(\.step) + [step]).whole()
  }

  /// Runs one request: a resolution of its own, or a part of the one under way.
  ///
  /// - Parameter memory: Where `body` puts a value, which is destroyed if a completion throws.
  @inline(__always) func resolving(
    _ memory: ValueMemory? = nil, of type: any Any.Type = Never.self, _ body: () throws(InjectionError) -> Void
  ) throws(InjectionError) {
    let isPart = !isIdle
    do throws(InjectionError) { try body() } catch {
      if !isPart { try? endResolution() }
      throw error
    }
    if isPart || fields.resolution == nil { return }
    do throws(InjectionError) { try endResolution() } catch {
      memory?.destroy(type)
      throw error
    }
  }

  /// Ends the resolution, if there is one: runs its completions, which still share its values, and lets it go.
  ///
  /// Also after an error: what was made on the way is kept though the whole failed.
  @inline(never) func endResolution() throws(InjectionError) {
    guard let resolution = fields.resolution else { return }
    defer {
      // Deinitializers may resolve, so it is released when it is no longer the thread's.
      fields.resolution = nil
      withExtendedLifetime(resolution) {}
    }
    try resolution.complete(on: self)
  }

  /// Whether the thread is in no resolution.
  var isIdle: Bool { fields.frames.isEmpty && fields.resolution == nil }

  /// The resolution under way.
  var resolution: Resolution {
    if let resolution = fields.resolution { return resolution }
    let resolution = Resolution()
    fields.resolution = resolution
    return resolution
  }
}
