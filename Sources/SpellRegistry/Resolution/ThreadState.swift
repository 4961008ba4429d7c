internal import Support
internal import Synchronization

/// What one thread is making, and whether it is reading what other threads may change.
@safe @usableFromInline struct ThreadState: ~Copyable {
  /// A thread's number, in units that leave room for a gate's tags; never used again in the process.
  typealias ID = UInt

  let id: ID
  /// What the thread is making, linked to what asked for it; only the thread itself uses it.
  var innermost: ResolutionFrame.Link?
  /// The values of scope `.graph` of the resolution under way; only the thread itself uses it.
  ///
  /// A value is shared by all that ask the same registry: what a child overrides never ends up in what its parent keeps. With
  /// the registrations, as an identifier names one for only as long as that lives.
  var graph: [ResolvedRegistration.ID: (registration: RegistrationStorage, value: Any)]?
  /// The hooks that run on this thread; only the thread itself uses it.
  var runningHooks: [RunningHook] = []
  /// What is to be called when the resolution under way has ended; only the thread itself uses it.
  var completions: [() -> Void] = []
  /// The address below which too little of the thread's stack is left to make anything.
  let stackLimit: UInt
  /// Whether the thread is in ``CurrentThread/read(_:)``.
  let isReading = Atomic(false)
  /// The address of what ends that; atomic, so that no compiler takes it for known.
  private let endOfReading: Atomic<UnsafeRawPointer>

  private init() {
    id = Self.last.add(CreationGate.unit, ordering: .relaxed).newValue
    stackLimit = lowestUsableStackAddress()
    let end: EndReading = { unsafe CurrentThread(at: $0).fields.isReading.store(false, ordering: .releasing) }
    unsafe endOfReading = Atomic(unsafeBitCast(end, to: UnsafeRawPointer.self))
  }

  private static let last = Atomic<ID>(0)

  private static let storage = unsafe ThreadLocalPointer { unsafe ThreadState.end(CurrentThread(at: $0)) }

  /// The calling thread's state, made when it is first asked for and freed when the thread ends.
  static var current: CurrentThread {
    if let state = unsafe storage.pointer { return unsafe CurrentThread(at: state) }
    return begin()
  }

  @inline(never) private static func begin() -> CurrentThread {
    let state = UnsafeMutablePointer<ThreadState>.allocate(capacity: 1)
    unsafe state.initialize(to: ThreadState())
    let thread = unsafe CurrentThread(at: state)
    unsafe storage.pointer = UnsafeMutableRawPointer(state)
    all.withLock { $0.append(OtherThread(thread: thread)) }
    return thread
  }

  private static func end(_ thread: CurrentThread) {
    all.withLock { threads in threads.removeAll { unsafe $0.thread.state == thread.state } }
    unsafe thread.state.deinitialize(count: 1)
    unsafe thread.state.deallocate()
  }

  /// `@unchecked Sendable`: other threads reach a state only while it is in ``all``, under that lock, and use only the
  /// atomic in it; its thread takes it out of there before freeing it.
  private struct OtherThread: @unchecked Sendable {
    fileprivate let thread: CurrentThread
    var isReading: Bool { thread.fields.isReading.load(ordering: .sequentiallyConsistent) }
  }
  private static let all = Lock<[OtherThread]>([])
  private static let isWriting = Atomic(false)
}

// The readers' lock: any number of threads read at once, and a thread that writes has all to itself. A reader writes to
// no memory that other readers use, so readers on several cores don't slow each other (a "big-reader lock", as Linux
// had for its routing tables; the handshake is Dekker's). It guards every `RegistrationTable` and every address that
// `KeptValue` publishes.
//
// Both sides store their own flag and then look at the other's, in one order that all threads agree on (sequentially
// consistent), so at least one sees the other: the reader then waits for the writer, or the writer for the reader.
// What runs in either must be short, run no code of others, and release nothing: a deinitializer could come back here.
extension ThreadState {
  @inline(__always) fileprivate func beginReading() {
    isReading.store(true, ordering: .sequentiallyConsistent)
    if Self.isWriting.load(ordering: .sequentiallyConsistent) { awaitWriters() }
  }

  /// Ends reading, by a call that the compiler can't see into.
  ///
  /// It moves the retain of what was found past a store, since a store releases nothing; then another thread may free the
  /// object first. Past a call that may release something, it moves none.
  fileprivate typealias EndReading = @convention(c) (UnsafeMutableRawPointer) -> Void

  fileprivate var endReading: EndReading {
    @inline(__always) get { unsafe unsafeBitCast(endOfReading.load(ordering: .relaxed), to: EndReading.self) }
  }

  @inline(never) private func awaitWriters() {
    repeat {
      isReading.store(false, ordering: .releasing)
      Self.all.withLock { _ in }
      isReading.store(true, ordering: .sequentiallyConsistent)
    } while Self.isWriting.load(ordering: .sequentiallyConsistent)
  }

  /// Runs `body` while no thread reads or writes.
  ///
  /// Costs a few nanoseconds for each thread that has ever read and still lives.
  static func write<Result>(_ body: () -> Result) -> Result {
    all.withLock { threads in
      isWriting.store(true, ordering: .sequentiallyConsistent)
      for other in threads {
        var looks = 0
        while other.isReading {
          looks += 1
          pauseBriefly(afterLooks: looks)
        }
      }
      defer { isWriting.store(false, ordering: .sequentiallyConsistent) }
      return Unchecked(value: body())
    }.value
  }

  /// Runs `body` on the calling thread while no thread writes; for code that is inlined elsewhere.
  @usableFromInline static func reading(_ body: () -> Void) { current.read(body) }

  /// Waits until each read that is under way has ended.
  static func awaitReaders() { write {} }
}

/// One value that a thread is making.
///
/// Frames live on the stack of the thread, each linked to the one whose initializer asked, and only that thread follows the
/// links: so noting what is being made costs next to nothing (benchmark: "resolve unique").
struct ResolutionFrame: ~Copyable {
  /// The frame whose initializer asked.
  fileprivate let outer: Link?
  let type: any Any.Type
  /// The registration whose initializer runs; nil for a property's own expression.
  ///
  /// The caller that pushed the frame holds it, so frames compare by address at no cost.
  let registration: Borrowed<RegistrationStorage>?
  let asker: Asker
  /// The registry that is asked or, for a value that is kept, the one that keeps it; nil for a property's own expression.
  let registry: ObjectIdentifier?
  /// Where other threads wait for the value, if they can: the gate of what a registration keeps, or of a property.
  let gate: GateID?
  /// The gate of the property that asked for what a registration keeps.
  let propertyGate: GateID?

  // Not memberwise: the compiler makes more of that (benchmark: "resolve a graph of five").
  init(
    on thread: CurrentThread, type: any Any.Type, registration: Borrowed<RegistrationStorage>? = nil,
    asker: Asker = Asker(), registry: ObjectIdentifier? = nil, gate: GateID? = nil, propertyGate: GateID? = nil
  ) {
    outer = thread.fields.innermost
    self.type = type
    self.registration = registration
    self.asker = asker
    self.registry = registry
    self.gate = gate
    self.propertyGate = propertyGate
  }

  /// A frame further out, which stays where it is while its initializer runs.
  @safe struct Link {
    private let address: UnsafePointer<ResolutionFrame>
    fileprivate init(_ address: UnsafePointer<ResolutionFrame>) { unsafe self.address = address }
    fileprivate var frame: ResolutionFrame { @inline(__always) unsafeAddress { unsafe address } }
  }

  /// Who asks: two requests for one registration that are alike in this need each other's result.
  struct Asker: Equatable {
    var container: ObjectIdentifier?
    var property: UInt?
    var name: String?
    /// Whether a registry keeps the object that asks, so that what the object gets must not keep the registry either.
    var isKept = false
    /// Run-time arguments can't be compared, so a request with arguments is like no other.
    var hasArguments = false
  }
}

/// The calling thread's state, as the thread itself uses it.
@safe struct CurrentThread {
  fileprivate let state: UnsafeMutablePointer<ThreadState>

  fileprivate init(at state: UnsafeMutableRawPointer) {
    unsafe self.state = state.assumingMemoryBound(to: ThreadState.self)
  }

  /// By addressors, as of a pointer: an access is to one field, while other threads look at the atomic one.
  var fields: ThreadState {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(state) }
    @inline(__always) nonmutating unsafeMutableAddress { unsafe state }
  }

  var id: ThreadState.ID { fields.id }
  /// Whether anything is being made on the thread.
  var isMaking: Bool { fields.innermost != nil }
  /// The registration whose initializer runs.
  var innermostRegistration: Borrowed<RegistrationStorage>? { fields.innermost?.frame.registration }

  /// Calls what waits for the end of the resolution, if this is the end.
  @inline(__always) func completeResolution() {
    if !fields.completions.isEmpty && !isMaking { complete() }
  }

  @inline(never) private func complete() {
    // What is called may resolve, and so add to the list.
    while !fields.completions.isEmpty { fields.completions.removeFirst()() }
  }

  /// Runs `body` while no thread writes; see ``ThreadState``.
  ///
  /// Benchmark: "singleton, the same Int from two threads".
  @inline(__always) func read<Result>(_ body: () -> Result) -> Result {
    fields.beginReading()
    defer { unsafe fields.endReading(state) }
    return body()
  }

  /// Runs what makes a value, with a frame of its own.
  ///
  /// - Throws: `.cycle` if the same is being made further out on this thread, `.stackExhausted` if too little of the
  ///   stack is left, or what `make` throws.
  @inline(__always) func making<Value>(
    _ frame: consuming ResolutionFrame, at step: () -> InjectionStep, _ make: () throws(InjectionError) -> Value
  ) throws(InjectionError) -> Value {
    if let registration = frame.registration {
      var outer = frame.outer
      while let open = outer {
        // By address first: nearly always that tells.
        if open.frame.registration == registration && open.frame.registry == frame.registry
          && open.frame.asker == frame.asker && !frame.asker.hasArguments
        {
          throw InjectionError(.cycle, through: [step()])
        }
        outer = open.frame.outer
      }
    }
    if isStackAddress(below: fields.stackLimit) {
      throw InjectionError(.stackExhausted, through: [step()])
    }
    return try unsafe withUnsafeMutablePointer(to: &frame) { address throws(InjectionError) in
      let current = unsafe ResolutionFrame.Link(UnsafePointer(address))
      fields.innermost = current
      defer {
        fields.innermost = current.frame.outer
        if current.frame.outer == nil && fields.graph != nil { endGraph() }
      }
      do throws(InjectionError) { return try make() } catch {
        // What was made on the way is kept though the whole failed.
        fields.innermost = current.frame.outer
        completeResolution()
        throw error
      }
    }
  }

  /// Lets the shared values go when the outermost frame ends; their deinitializers may resolve.
  @inline(never) private func endGraph() {
    let graph = fields.graph.take()
    withExtendedLifetime(graph) {}
  }

  /// What is being made, the outermost first: its type, where other threads may wait for it, and where it is registered.
  var frames: [(type: any Any.Type, gates: [GateID?], place: SourcePlace?)] {
    sequence(first: fields.innermost) { $0?.frame.outer }.compactMap { link in
      guard let link else { return nil }
      let place = link.frame.registration.map { $0.retained.place }
      return (link.frame.type, [link.frame.gate, link.frame.propertyGate], place)
    }.reversed()
  }
}
