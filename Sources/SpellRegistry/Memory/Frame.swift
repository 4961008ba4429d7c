/// An entry in the ``FrameStack`` of a thread, usually for a value that the thread is making.
///
/// The frames of a thread reveal cycles, the current registry, and whether a registry may keep new objects. A frame
/// doesn't retain its objects. The function that pushes the frame must keep the objects alive until it pops the frame.
struct Frame {
  /// The request whose value is being made; nil if the frame makes no value.
  var request: Request?
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

  /// The value that is being made, as a step of an error's path; nil if the frame makes no value.
  var step: InjectionStep? { request.map { InjectionStep($0.service, servedBy: record?.object) } }

  /// Returns whether the frame is for the same value as an outer frame, whose initializer then needs its own result.
  ///
  /// A factory may call itself with other arguments. Its recursion may end, so only the thread's stack limits it.
  @inline(__always) func repeats(_ outer: Frame) -> Bool {
    guard let record, record == outer.record, registry == outer.registry, let request, let other = outer.request else {
      return false
    }
    return request.hasOrigin(of: other) && !record.object.isFactory
  }
}
