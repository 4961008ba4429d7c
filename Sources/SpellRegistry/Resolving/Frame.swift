/// An entry in the ``FrameStack`` of a thread, usually for a value that the thread is making.
///
/// The frames of a thread reveal cycles, the current registry, and whether a registry keeps new values. A frame doesn't
/// retain its objects. The function that pushes the frame keeps the objects alive until it pops the frame.
struct Frame: BitwiseCopyable {
  let type: any Any.Type
  /// The registration whose initializer runs; nil for a property's own expression and a frame that makes no value.
  var record: Borrowed<RegistrationRecord>?
  /// The registry that is current in this frame; nil for the task's registry.
  var registry: Borrowed<InitializerRegistry>?
  var asker = Asker()
  /// Whether objects made in this frame hold their registry weakly, because a registry may keep the frame's value.
  ///
  /// This is nil until the task's context is read for the first object.
  var linksWeakly: Bool?
  /// The address of the `CreationGate` at which other threads wait for the value; nil if nothing keeps the value.
  var gate: UInt?
  /// The address of the `CreationGate` of the property that requested the value, if a registration makes the value.
  var propertyGate: UInt?
  /// The async run on whose behalf this frame makes requests; nil if there is none.
  var run: Borrowed<AsyncRun>?

  /// The origin of a request.
  ///
  /// A request for a registration is a cycle if an enclosing request for that registration has an equal origin.
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
    located ?? InjectionStep(Service(type.type, key: record?.service.key), registration: record?.place)
  }
}
