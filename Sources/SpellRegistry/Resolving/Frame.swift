/// One value that a thread is making.
///
/// Frames reveal cycles, the current registry, and whether a registry keeps new values. They count no references: the
/// function that pushes a frame keeps the frame's objects alive until it pops the frame.
struct Frame: BitwiseCopyable {
  let type: any Any.Type
  /// The registration whose initializer runs; nil for a property's own expression and a frame that makes no value.
  var record: Borrowed<RegistrationRecord>?
  /// The registry that is current in this frame; nil for the task's registry.
  var registry: Borrowed<InitializerRegistry>?
  var asker = Asker()
  /// Whether objects made in this frame hold their registry weakly, because a registry may keep the value that they are
  /// part of; nil until the task's context has been read for the first such object.
  var linksWeakly: Bool?
  /// The gates at which other threads wait for the value: the registration's and the property's.
  var gate: UInt?
  var propertyGate: UInt?
  /// The async run on whose behalf the requests in this frame are made.
  var run: Borrowed<AsyncRun>?

  /// The origin of a request.
  ///
  /// A request inside another one for the same registration is a cycle if both have the same origin.
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
