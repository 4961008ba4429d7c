@_exported public import SpellRegistry

/// A property that is assigned once, and never changes after that.
///
/// ```swift
/// final class Document {
///   @Final var id: Int
///   @Final var kind = "draft"     // its one assignment
/// }
/// document.id = 7
/// document.id = 8                 // stops the program
/// try document.$id.assign(8)      // throws FinalError instead
/// ```
///
/// If the property is read before the assignment, the initializer that is registered for the property's type makes the
/// final value. If nothing is registered, a property of an Optional type reads nil, and can still be assigned.
///
/// *Cost*: Declaring the property takes one allocation, or two with an initial value. Each read of the value takes one
/// atomic load. An assignment to an object's property takes two atomic exchanges. An assignment to a struct's property
/// takes an allocation.
///
/// *Threads*: Any number of threads may read and assign an object's property at once. At most one assignment succeeds,
/// and every later read sees the complete value. An assignment to a struct's property is a write to the struct.
///
/// *Traps*: A second assignment stops the program, and so does an assignment by the initializer that makes the value. A
/// read before the first assignment stops the program if nothing is registered and the type isn't Optional, or if the
/// registered initializer fails. The message has the property's name, or the file and line of its declaration. To avoid
/// a stop, call `$property.assign`, which throws ``FinalError``, and read `$property.value`, which is nil until there
/// is a value.
///
/// Assigning a struct's property with `=` doesn't affect copies of the struct. In a class with a checked `Sendable`
/// conformance, declare a constant instead, `let id = Final<Int>()`, and call `try id.assign(7)`. The wrapper isn't
/// `Codable`: leave the property out of the coding keys of a `Codable` type.
@frozen @propertyWrapper public struct Final<Value> {
  @usableFromInline var storage: PropertyStorage<Value>

  /// Creates a property that is assigned later.
  @inlinable public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    storage = PropertyStorage(at: SourcePlace(fileID: fileID, line: line, column: column))
  }

  /// Creates a property that already has its value.
  @inlinable public init(
    wrappedValue value: Value, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    storage = PropertyStorage(at: SourcePlace(fileID: fileID, line: line, column: column)).replaced(with: value)
  }

  /// The property's value, in a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let memory = container[keyPath: path].storage.memory
      if memory.isReady { return withExtendedLifetime(container) { memory.read() } }
      return container[keyPath: path].makeValue(in: container)
    }
    set { container[keyPath: path].assignOrStop(newValue, in: container) }
  }

  /// The value of a property that is declared in a struct, or as a local variable.
  @inlinable public var wrappedValue: Value {
    get {
      if storage.memory.isReady { return withExtendedLifetime(self) { storage.memory.read() } }
      return makeValue(in: nil)
    }
    set { assignApart(newValue) }
  }

  /// The projection `$property` in a class or an actor, with the enclosing object.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    Projection(final: container[keyPath: path], container: container)
  }

  /// The projection `$property` in a struct or for a local variable, without an enclosing object.
  public var projectedValue: Projection { Projection(final: self, container: nil) }

  /// The value, for a constant such as `let id = Final<Int>()`.
  @inlinable public var value: Value { wrappedValue }

  /// The slow path of a read before the first assignment, which makes the value or stops the program.
  ///
  /// If nothing is registered for a property of an Optional type, the result is nil.
  ///
  /// Never inlined, because the common read of a stored value has to stay small.
  @inline(never) @usableFromInline func makeValue(in container: AnyObject?) -> Value {
    do throws(InjectionError) { return try storage.resolve(in: container) } catch {
      let isMissing = error.code == .notRegistered && error.path.count == 1
      let advice = "It was read before it was assigned. Assign it first, or look at \(check(in: container)) before."
      (isMissing ? error.noting(advice) : error).stop(at: storage.place, canResolve: false)
    }
  }

  /// Assigns the value, or stops the program with the message of a ``FinalError``.
  @usableFromInline func assignOrStop(_ value: Value, in container: AnyObject?) {
    do throws(FinalError) { try assign(value, in: container) } catch {
      trap(error.description, at: storage.place)
    }
  }

  fileprivate func assign(_ value: Value, in container: AnyObject?) throws(FinalError) {
    let isAssigned: Bool
    do throws(InjectionError) { isAssigned = try storage.store(value, replacing: false) } catch {
      throw failure(.beingMade, in: container)
    }
    if !isAssigned { throw failure(.alreadyAssigned, in: container) }
  }

  private func failure(_ code: FinalError.Code, in container: AnyObject?) -> FinalError {
    FinalError(
      code: code, property: name(in: container), typeName: TypeName.of(Value.self), check: check(in: container))
  }

  /// Returns the expression that an error message suggests, such as `$name.hasValue`.
  ///
  /// If the property's name isn't known, the expression has a placeholder instead of the name. In that case, the result
  /// also shows the expression for a constant such as `let id = Final<Int>()`, which is written without `$`.
  private func check(in container: AnyObject?) -> String {
    storage.point(in: container).step().propertyName.map { "$\($0).hasValue" }
      ?? "$property.hasValue (of a constant, constant.hasValue)"
  }

  /// Assigns the property of one struct, without changing copies of that struct.
  ///
  /// Stops the program if the property already has a value.
  @usableFromInline mutating func assignApart(_ value: Value) {
    if storage.hasValue { return assignOrStop(value, in: nil) }
    storage = storage.replaced(with: value)
  }

  /// Returns `Container.property` or, if no object holds the property, a text with the declaration's file and line.
  private func name(in container: AnyObject?) -> String {
    storage.point(in: container).step().property
      ?? "The @Final property declared at \(storage.identity.place)"
  }
}

// `@unchecked Sendable`: the atomic `state` of the storage's `CreationGate` guards the value. Only the thread that has
// changed the state to busy writes the value. Other threads read the value only after the state is ready.
extension Final: @unchecked Sendable where Value: Sendable {}

extension Final: NamedProperty, NeedingProperty, CustomStringConvertible {
  /// The identity by which reflection finds the property's name.
  public var identity: PropertyIdentity { storage.identity }
  /// A text with the value, if there is one, and the file and line of the declaration.
  public var description: String { storage.description(of: "Final") }
  /// The need for a registration, which is unknown: only a property that is read before its assignment needs one.
  package static var need: PropertyNeed { PropertyNeed(.unknown) }
}

// MARK: The operations of a constant, and the projection

extension Final {
  /// Whether a constant such as `let id = Final<Int>()` has a value, from an assignment or a registered initializer.
  public var hasValue: Bool { storage.hasValue }

  /// Assigns the value of a constant such as `let id = Final<Int>()`.
  ///
  /// - Throws: ``FinalError`` of code `.alreadyAssigned` if the constant already has a value, which it keeps. The code
  ///   is `.beingMade` if a registered initializer is making the value, and calls this method or waits for the calling
  ///   thread.
  public func assign(_ value: Value) throws(FinalError) { try assign(value, in: nil) }

  /// The projection `$property`, with operations that a plain read or assignment doesn't offer.
  public struct Projection {
    fileprivate let final: Final
    /// The enclosing object; nil in a struct and for a local variable.
    fileprivate let container: AnyObject?

    /// Whether the property has a value, from an assignment or from a registered initializer.
    public var hasValue: Bool { final.hasValue }

    /// The value, or nil until there is one.
    ///
    /// Reading this property doesn't run a registered initializer.
    public var value: Value? { final.storage.value }

    /// Assigns the value.
    ///
    /// Copies of a struct share their storage until a copy is assigned with `=`. This method assigns the value of every
    /// copy that shares the storage.
    ///
    /// - Throws: ``FinalError`` of code `.alreadyAssigned` if the property already has a value, which it keeps. The
    ///   code is `.beingMade` if a registered initializer is making the value, and calls this method or waits for the
    ///   calling thread.
    public func assign(_ value: Value) throws(FinalError) { try final.assign(value, in: container) }
  }
}

// MARK: Errors

/// An error that occurs when a `@Final` property can't be assigned.
public struct FinalError: Error, Sendable, CustomStringConvertible {
  /// The reason that an assignment fails.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as it is spelled in source.
    public let description: String

    /// The property already has a value, which it keeps.
    public static let alreadyAssigned = Code(description: "alreadyAssigned")
    /// A registered initializer is making the value, and it assigns the property or waits for the assigning thread.
    public static let beingMade = Code(description: "beingMade")
  }

  /// The reason that the assignment failed.
  public let code: Code
  /// `Container.property` or, if no object holds the property, a text with the declaration's file and line.
  public let property: String
  fileprivate let typeName: String
  fileprivate let check: String

  /// A message with the property, the mistake, and the remedy.
  public var description: String {
    switch code {
    case .beingMade:
      """
      \(property), of type \(typeName), is assigned while its own initializer makes the value. Return the value from the \
      initializer instead.
      """
    default:
      """
      \(property), of type \(typeName), is assigned already, and @Final allows one assignment. Look at \(check) first, or \
      declare it without @Final.
      """
    }
  }
}
