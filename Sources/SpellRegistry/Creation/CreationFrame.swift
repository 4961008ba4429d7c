/// One value that is being asked for on this thread, from the moment it is asked for until it is there.
///
/// Frames live on the stack of the thread that asks and are linked to the frame of whoever asked for them, so that a
/// circle can be told, with its whole path, at no cost but the link.
struct CreationFrame {
  /// The frame that was innermost when this one began: whose initializer asks.
  let asker: UnsafeMutablePointer<CreationFrame>?
  let thread: UnsafeMutablePointer<CreationThread>
  let type: any Any.Type
  /// What runs, and for whom: a registration, and the container, property and name that it was asked with.
  ///
  /// Two frames alike in all of them are a circle.
  ///
  /// Whoever pushed the frame holds it, until its hooks have run.
  unowned(unsafe) var entry: RegistrationRecord?
  let asked: Asked
  /// The values that are shared within this resolution; only the outermost frame has any.
  var graph: GraphValues?

  struct Asked: Equatable {
    var container: ObjectIdentifier?
    /// The address of the property's storage.
    var property: UnsafeRawPointer?
    var name: String?

    /// A call of `resolve`.
    static func directly(named name: String?, for container: AnyObject?) -> Asked {
      Asked(container: container.map { ObjectIdentifier($0) }, property: nil, name: name)
    }
  }

  /// How many frames of one registration may be open at once before it counts as a circle.
  ///
  /// A registration that is asked with ever new arguments, or for ever new containers, never meets itself; this bound
  /// is what keeps it from overflowing the stack.
  static let deepestRecursion = 100

  /// Runs `body` with a frame of its own as the innermost of this thread.
  static func push<Result>(
    _ type: any Any.Type, asked: Asked,
    _ body: (UnsafeMutablePointer<CreationFrame>) throws(InjectionError) -> Result
  ) throws(InjectionError) -> Result {
    let thread = CreationThread.current
    let asker = thread.pointee.innermost
    var frame = CreationFrame(asker: asker, thread: thread, type: type, asked: asked)
    defer { thread.pointee.innermost = asker }
    return try withUnsafeMutablePointer(to: &frame) { frame throws(InjectionError) in
      thread.pointee.innermost = frame
      return try body(frame)
    }
  }

  /// What is being made on this thread, the outermost first.
  static var openTypes: [any Any.Type] {
    sequence(first: CreationThread.current.pointee.innermost) { $0?.pointee.asker }
      .compactMap { $0?.pointee.type }.reversed()
  }
}

extension UnsafeMutablePointer<CreationFrame> {
  /// The frame whose asker is nobody: the one that began this resolution.
  var outermost: UnsafeMutablePointer<CreationFrame> {
    var frame = self
    while let asker = frame.pointee.asker { frame = asker }
    return frame
  }

  /// Notes that `entry` is what will run for this frame.
  ///
  /// - Throws: `.cycle` where it runs already, further out on this thread, for the same container and name.
  func begin(_ entry: RegistrationRecord, withArguments: Bool) throws(InjectionError) {
    var depth = 0
    var asker = pointee.asker
    while let frame = asker {
      if frame.pointee.entry === entry {
        depth += 1
        if frame.pointee.asked == pointee.asked && !withArguments || depth >= CreationFrame.deepestRecursion {
          throw InjectionError(.cycle, through: [InjectionStep(pointee.type)])
        }
      }
      asker = frame.pointee.asker
    }
    pointee.entry = entry
  }

  /// Notes that a property's own expression is what will run for this frame.
  ///
  /// - Throws: `.cycle` where expressions of properties of this type are open too deep: each makes an object whose
  ///   property makes another.
  func beginExpression() throws(InjectionError) {
    var depth = 0
    var asker = pointee.asker
    while let frame = asker {
      if frame.pointee.entry == nil && frame.pointee.asked.property != nil && frame.pointee.type == pointee.type {
        depth += 1
      }
      asker = frame.pointee.asker
    }
    if depth >= CreationFrame.deepestRecursion {
      throw InjectionError(.cycle, through: [InjectionStep(pointee.type)])
    }
  }
}

/// The values of scope `.graph` that one resolution has made so far.
final class GraphValues {
  /// Holds the entries as well: an identifier is an entry's own only for as long as that lives.
  private var values: [ObjectIdentifier: (entry: RegistrationRecord, value: Any)] = [:]

  func value<Value>(of entry: RegistrationEntry<Value>) -> Value? {
    // The dictionary's own nil would pass for a value of an Optional type.
    guard let kept = values[ObjectIdentifier(entry)] else { return nil }
    return kept.value as? Value
  }

  func keep<Value>(_ value: Value, of entry: RegistrationEntry<Value>) {
    values[ObjectIdentifier(entry)] = (entry, value)
  }
}
