public import Spellbook
internal import Synchronization

/// A chronological record of the accesses to one container's `@Audited` properties.
///
/// A trail is safe to use from any thread.
public final class AuditTrail: Sendable {
  private let entries = Mutex<[String]>([])

  /// Creates an empty trail.
  public init() {}

  /// A line for each read and write so far, such as `read balance` or `wrote balance 7`.
  public var lines: [String] { entries.withLock(\.self) }

  fileprivate func add(_ line: String) { entries.withLock { $0.append(line) } }
}

/// A property whose reads and writes are recorded in its container's `AuditTrail`.
///
/// ```swift
/// final class Account {
///   let trail = AuditTrail()
///   @Audited var balance = 0
/// }
/// registry.register(.in(Account.self) { account in account.trail })
/// account.balance += 7
/// account.trail.lines      // ["read balance", "wrote balance 7"]
/// ```
///
/// The registry provides the container's trail, at the first read or write. If nothing is registered, each property has
/// its own trail, `$balance`.
///
/// The property must be read and written in its container's isolation. Copies of a struct share one trail.
@propertyWrapper public struct Audited<Value> {
  private var value: Value
  private let trail: PropertyStorage<AuditTrail>

  /// Creates a property with an initial value.
  ///
  /// - Parameters:
  ///   - value: The initial value.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  public init(
    wrappedValue value: Value, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    self.value = value
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    trail = PropertyStorage(at: place)
  }

  /// The value of a property in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container,
    wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    get {
      let audited = container[keyPath: path]
      let name = audited.name(in: container)
      audited.record("read \(name)", in: container)
      return audited.value
    }
    set {
      container[keyPath: path].value = newValue
      let audited = container[keyPath: path]
      let name = audited.name(in: container)
      audited.record("wrote \(name) \(newValue)", in: container)
    }
  }

  /// The value of a property in a struct, or of a local variable.
  public var wrappedValue: Value {
    get {
      record("read \(name(in: nil))", in: nil)
      return value
    }
    set {
      value = newValue
      record("wrote \(name(in: nil)) \(newValue)", in: nil)
    }
  }

  /// The trail of a property in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, AuditTrail>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> AuditTrail {
    container[keyPath: path].trail(in: container)
  }

  /// The trail of a property in a struct, or of a local variable.
  public var projectedValue: AuditTrail { trail(in: nil) }

  private func record(_ line: String, in container: AnyObject?) { trail(in: container).add(line) }

  /// Returns the container's trail, for which the registry is asked at the first access only.
  private func trail(in container: AnyObject?) -> AuditTrail {
    trail.value(in: container) { AuditTrail() }
  }

  private func name(in container: AnyObject?) -> String {
    trail.point(in: container).propertyName
      ?? "the property at \(trail.place)"
  }
}

// With this conformance, reflection finds the property's name.
extension Audited: NamedProperty {
  /// The identity of the property that this wrapper stores.
  public var identity: PropertyIdentity { trail.identity }
}
