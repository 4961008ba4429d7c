/// An entry in the ``FrameStack`` of a thread, usually for a value that the thread is making.
///
/// The frames of a thread reveal cycles, the current registry, and whether a registry may keep new objects. A frame
/// doesn't retain its objects. The function that pushes the frame must keep the objects alive until it pops the frame.
struct Frame: BitwiseCopyable {
  let type: any Any.Type
  /// The task that pushed the frame.
  ///
  /// Another task may run on the same thread while the frame exists: a `Task.immediate` that an initializer starts, or a
  /// task of the main actor, if an initializer runs the main run loop. That task's code isn't part of the initializer.
  var task = TaskID(0)
  /// The registration whose initializer runs in the frame.
  ///
  /// This property is nil if a property's own code runs in the frame, or if the frame makes no value.
  var record: Borrowed<RegistrationRecord>?
  /// The registry that is current in this frame; nil if the task's registry is current.
  var registry: Borrowed<InitializerRegistry>?
  var asker = Asker()
  /// Whether a registry may keep what is made in this frame, alone or as part of another value.
  ///
  /// Objects made in the frame then hold their registry weakly. Otherwise, the registry and the value could keep each
  /// other alive.
  ///
  /// If this is nil, the task's context decides. The decision for the first object is then stored in the frame.
  var isKept: Bool?
  /// The address of the `CreationGate` at which other threads wait for the value.
  ///
  /// This is the gate of a value that the registration keeps, or of the property whose own code makes the value. It is
  /// nil for any other value.
  var gate: UInt?
  /// The address of the `CreationGate` of the property that will store the value; nil if no property stores it.
  ///
  /// It is also nil if the property's own expression makes the value, because `gate` then has the address.
  var propertyGate: UInt?
  /// The async run on whose behalf this frame makes requests; nil if there is none.
  var run: Borrowed<AsyncRun>?

  /// The origin of a request.
  ///
  /// A request completes a cycle if an enclosing request has the same registration, the same registry and an equal
  /// origin.
  struct Asker: BitwiseCopyable {
    var container: ObjectIdentifier?
    var property: UInt?
    var name: Borrowed<RequestedName>?

    @inline(__always) func needs(_ other: Asker) -> Bool {
      container == other.container && property == other.property
        && (name == other.name || name?.object.name == other.name?.object.name)
    }
  }
}

/// A copy of a frame's content that other threads may read.
struct FrameSummary: Sendable {
  let type: ErasedType
  let record: RegistrationRecord?
  var gates: [UInt] = []
  var located: InjectionStep?

  var step: InjectionStep {
    located ?? InjectionStep(Service(type.type, key: record?.service.key), servedBy: record)
  }
}
