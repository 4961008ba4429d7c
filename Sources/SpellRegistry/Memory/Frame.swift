/// An entry in the ``FrameStack`` of a thread, usually for a value that the thread is making.
///
/// The frames of a thread reveal cycles, the current registry, and whether a registry may keep new objects. A frame
/// doesn't retain its objects. The function that pushes the frame must keep the objects alive until it pops the frame.
@safe struct Frame: BitwiseCopyable {
  private let requestAddress: UnsafePointer<Request>?
  /// The registration whose initializer runs in the frame.
  ///
  /// This property is nil if a property's own code runs in the frame, or if the frame makes no value.
  var record: Borrowed<RegistrationRecord>?
  /// The registry that is current in this frame; nil if the task's registry is current.
  var registry: Borrowed<InitializerRegistry>?
  /// The task that pushed the frame.
  ///
  /// Another task may run on the same thread while the frame exists: a `Task.immediate` that an initializer starts, or a
  /// task of the main actor, if an initializer runs the main run loop. That task's code isn't part of the initializer.
  var task = TaskID(0)
  /// The async run on whose behalf this frame makes requests; nil if there is none.
  var run: Borrowed<AsyncRun>?
  /// The address of the `CreationGate` at which other threads wait for the value that the registration keeps; nil if the
  /// registration keeps none.
  var gate: UInt?
  /// Whether a registry may keep what is made in this frame, alone or as part of another value.
  ///
  /// Objects made in the frame then hold their registry weakly. Otherwise, the registry and the value could keep each
  /// other alive.
  ///
  /// If this is nil, the task's context decides. The decision for the first object is then stored in the frame.
  var isKept: Bool?

  /// Creates a frame that makes no value.
  init() { unsafe requestAddress = nil }

  private init(for request: UnsafePointer<Request>) { unsafe requestAddress = request }

  /// Calls `body` with a frame for the value of a request, which `body` pushes and pops.
  @inline(__always) static func with<Failure>(
    _ request: borrowing Request, _ body: (Frame) throws(Failure) -> Void
  ) throws(Failure) {
    try unsafe withUnsafePointer(to: request) { address throws(Failure) in try unsafe body(Frame(for: address)) }
  }

  /// Whether the frame is for a value that the thread is making.
  var makesValue: Bool { unsafe requestAddress != nil }

  /// The request for the value, read in place.
  ///
  /// - Precondition: The frame makes a value.
  var request: Request {
    @inline(__always) unsafeAddress {
      guard let address = unsafe requestAddress else { preconditionFailure("The frame makes no value.") }
      return unsafe address
    }
  }

  /// The value that is being made, as a step of an error's path; nil if the frame makes no value.
  var step: InjectionStep? { makesValue ? InjectionStep(request.service, servedBy: record?.object) : nil }

  /// Returns whether the frame is for the same value as an outer frame, whose initializer then needs its own result.
  ///
  /// A factory may call itself with other arguments. Its recursion may end, so only the thread's stack limits it.
  @inline(__always) func repeats(_ outer: Frame) -> Bool {
    guard let record, record == outer.record, registry == outer.registry else { return false }
    return request.hasOrigin(of: outer.request) && !record.object.isFactory
  }
}

/// The frames of one thread, the innermost last, in memory that only this thread uses.
///
/// An array would check at each change that no other array shares its storage, and retain the storage for each search
/// (benchmark: "resolve a graph of five"). The owner of the stack must call ``free()``.
@safe struct FrameStack: RandomAccessCollection {
  private var base = UnsafeMutablePointer<Frame>.allocate(capacity: 16)
  private var capacity = 16
  private(set) var endIndex = 0

  var startIndex: Int { 0 }
  subscript(index: Int) -> Frame { @inline(__always) get { unsafe base[index] } }

  @inline(__always) mutating func append(_ frame: Frame, of task: TaskID) {
    if endIndex == capacity { grow() }
    unsafe (base + endIndex).initialize(to: frame)
    unsafe base[endIndex].task = task
    endIndex += 1
  }

  /// Removes the innermost frame, which owns no objects and therefore needs no release.
  @inline(__always) mutating func removeLast() { endIndex -= 1 }

  /// Records in the innermost frame whether a registry may keep what is made in it.
  mutating func note(isKept: Bool) { unsafe base[endIndex - 1].isKept = isKept }

  @inline(never) private mutating func grow() {
    let larger = UnsafeMutablePointer<Frame>.allocate(capacity: capacity * 2)
    unsafe larger.moveInitialize(from: base, count: endIndex)
    unsafe base.deallocate()
    unsafe (base, capacity) = (larger, capacity * 2)
  }

  func free() { unsafe base.deallocate() }
}
