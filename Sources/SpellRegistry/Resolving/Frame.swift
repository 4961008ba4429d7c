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
