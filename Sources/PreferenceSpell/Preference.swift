@_exported public import PreferenceStorage
@_exported public import SpellRegistry

/// A property whose value is kept in a preferences store, under the property's name.
///
/// ```swift
/// final class Settings {
///   @Preference var nickname = "guest"                // key "nickname"
///   @Preference var lastOpened: Date?                 // nil removes
///   @Preference("ui.theme") var theme = Theme.light   // another key
///   @Preference(.volume) var volume                   // a declared key
/// }
/// struct Options { @Preference("options.verbose") var verbose = false }
/// enum Shared { static let launches = Preference("launches", default: 0) }
/// try Shared.launches.update { $0 += 1 }
/// ```
///
/// The store is registered as `(any PreferenceStore).self`, for the class of the enclosing object or for all classes,
/// in the registry that is current when the object is created. If no store is registered, the property uses
/// `FilePreferenceStore.standard`, or in tests a store in memory. A constant such as `let x = Preference(…)`, which is
/// read through ``value``, uses the registry that is current at each use.
///
/// *When the work happens*: the declaration reads no values. The first use finds the property's name and the store.
/// After a change, usually only the first read decodes the value. When an assignment returns, the value is in the
/// store. In a file store, the assignment makes one append to the file.
///
/// *Observation*: the Observation framework tracks reads, and notifies observers of each change by any object or
/// process. Observers run on the thread that makes or finds the change, after the new value can be read.
///
/// *Threads*: reads and assignments are safe from any thread. A `+=` is a separate read and write. If several threads
/// or processes change a counter, use `try $property.update { $0 += 1 }`.
///
/// *Errors*: a value that can't be decoded reads as the default and stays in the store. An assignment doesn't replace
/// the undecodable value, because the new value may be based on the default. `$property.error`, the store's `errors`
/// and, in debug builds, the standard error report the failure. `$property.load()`, `.set(_:)` and `.update(_:)` throw
/// errors.
///
/// *Traps*: a property of a struct, or a local variable, needs a key, and so does a property whose name reflection
/// doesn't show. The program stops if a store is registered only as its own type and not as
/// `(any PreferenceStore).self`, because the standard file would be used by mistake. It also stops if a property is
/// first used when its registry no longer exists.
@propertyWrapper public struct Preference<Value: Codable & Sendable>: Sendable {
  let resolver: PreferenceResolver<Value>
  /// An unretained reference to `resolver`, for reads that don't retain the resolver.
  @usableFromInline let unretainedResolver: Unmanaged<PreferenceResolver<Value>>

  fileprivate init(
    at place: SourcePlace, _ key: String?, _ defaultValue: DefaultValue<Value>, _ store: (any PreferenceStore)? = nil,
    _ formerKeys: [FormerPreferenceKey] = [], isConstant: Bool = false
  ) {
    let declaration = PreferenceDeclaration(
      place: place, key: key, defaultValue: defaultValue, store: store, formerKeys: formerKeys)
    resolver = PreferenceResolver(of: declaration, isConstant: isConstant)
    unretainedResolver = Unmanaged.passUnretained(resolver)
  }

  /// Creates a property with a default.
  ///
  /// - Parameters:
  ///   - defaultValue: The property's value until another value is set. A read doesn't store it. For one declaration,
  ///     all objects of a process that have the same store and key share the first object's default, such as a
  ///     `UUID()`, unless an initializer passes the default. If the default is an Optional that isn't nil, an assigned
  ///     nil is stored as `{"#nil":null}`, and `reset()` removes the value.
  ///   - key: The key in the store; by default, the property's name, which is known only in a class or an actor.
  ///   - store: The store; by default, the registered store.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  ///   - function: The name of the type that declares the property, or of the initializer that passes the default.
  public init(
    wrappedValue defaultValue: Value, _ key: String? = nil, store: (any PreferenceStore)? = nil,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column, function: StaticString = #function
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key,
      DefaultValue(defaultValue, writtenIn: function), store)
  }

  /// Creates a property with a default, and with former keys under which the value may still be stored.
  ///
  /// If the current key has no value, the property reads the first former key that has a value. The next assignment
  /// stores the assigned value under the current key, and removes the values of the former keys. A change to a former
  /// key notifies no observers. For the other parameters, see the initializer without former keys.
  public init(
    wrappedValue defaultValue: Value, _ key: String? = nil, store: (any PreferenceStore)? = nil,
    formerly formerKey: FormerPreferenceKey, _ earlierKeys: FormerPreferenceKey..., fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column, function: StaticString = #function
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key,
      DefaultValue(defaultValue, writtenIn: function), store, [formerKey] + earlierKeys)
  }

  /// Creates a property or a constant with a declared key, which provides the type and the default.
  ///
  /// - Parameters:
  ///   - key: The declared key. In one store, all uses of the key share one default.
  ///   - store: The store; by default, the registered store.
  ///   - formerKeys: Earlier keys of the value; see the initializer with former keys.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  public init(
    _ key: PreferenceKey<Value>, store: (any PreferenceStore)? = nil, formerly formerKeys: FormerPreferenceKey...,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key.name, .declared(key), store, formerKeys)
  }

  /// Creates a property or a constant of an Optional type with nil as its default.
  ///
  /// Setting the property or the constant to nil removes the stored value. For the parameters, see the initializer with
  /// a default.
  public init(
    _ key: String, store: (any PreferenceStore)? = nil, formerly formerKeys: FormerPreferenceKey...,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value: ExpressibleByNilLiteral {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key, .constant(nil), store, formerKeys)
  }

  /// Unavailable: a property that isn't Optional needs a default.
  @available(*, unavailable, message: "A preference that is not Optional needs a default: '@Preference var name = 5'.")
  public init(_ key: String, store: (any PreferenceStore)? = nil) { fatalError() }

  /// Creates a constant such as `let volume = Preference("volume", default: 5)`, read and set through ``value``.
  ///
  /// - Parameters:
  ///   - key: The key in the store.
  ///   - defaultValue: The constant's value until another value is set. A read doesn't store it.
  ///   - store: The store; by default, the store in the registry that is current at each use.
  ///   - formerKeys: Earlier keys of the value; see the initializer with former keys.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  public init(
    _ key: String, default defaultValue: Value, store: (any PreferenceStore)? = nil,
    formerly formerKeys: FormerPreferenceKey..., fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key, .constant(defaultValue), store, formerKeys,
      isConstant: store == nil)
  }

  /// The value of a property in a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let resolver = container[keyPath: path].unretainedResolver
      let decoded = withExtendedLifetime(container) { resolver._withUnsafeGuaranteedRef { $0.decodedValue } }
      if let decoded { return decoded }
      return container[keyPath: path].value(in: container)
    }
    set { container[keyPath: path].set(newValue, in: container) }
  }

  /// The value of a property in a struct, or of a local variable.
  @inlinable public var wrappedValue: Value {
    get {
      let decoded = withExtendedLifetime(self) { unretainedResolver._withUnsafeGuaranteedRef { $0.decodedValue } }
      return decoded ?? value(in: nil)
    }
    nonmutating set { set(newValue, in: nil) }
  }

  /// The projection `$property` of a property in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    Projection(origin: container[keyPath: path].resolver.cache(in: container))
  }

  /// The projection `$property` of a property in a struct, or of a local variable.
  ///
  /// A constant such as `let x = Preference(…)` has no `$x`, and offers the projection's operations itself.
  public var projectedValue: Projection { Projection(origin: resolver.cache(in: nil)) }
}

// If the initializer below were in the type's body, the compiler would call it for each property without a default,
// even if the initializer of the class assigns the property, as in `_token = Preference(wrappedValue: "", name)`.
//
// For an Optional property such as `@Preference var x: Int?`, the compiler calls `init(wrappedValue:)` with nil. It
// does so only because `init(wrappedValue:)` has a form without a variadic parameter.
extension Preference where Value: ExpressibleByNilLiteral {
  /// Creates a property of an Optional type with nil as its default.
  ///
  /// Assigning nil to the property removes the stored value.
  public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), nil, .constant(nil))
  }
}

extension Preference {
  /// The value of a constant such as `let x = Preference(…)`, in the declared store or the current registry's store.
  @inlinable public var value: Value {
    get {
      let decoded = withExtendedLifetime(self) { unretainedResolver._withUnsafeGuaranteedRef { $0.decodedConstant } }
      return decoded ?? constantValue
    }
    nonmutating set { set(constant: newValue) }
  }

  /// The slow path of a read of ``value``, when the copy that the calling thread uses isn't up to date.
  ///
  /// Never inlined, because its code would slow down the reads that find a copy.
  @usableFromInline var constantValue: Value { @inline(never) get { resolver.constantCache.value } }

  @usableFromInline func set(constant value: Value) { resolver.constantCache.set(value) }

  /// The key that the declaration specifies.
  ///
  /// - Precondition: The declaration specifies a key. The key of any other property is `$property.key`.
  public var key: String { resolver.declaration.key(of: identity, in: nil) }

  /// The slow path of a read of a property, when no decoded copy is up to date.
  ///
  /// Never inlined, because its code would slow down the reads that find a copy.
  @inline(never) @usableFromInline func value(in container: AnyObject?) -> Value { resolver.cache(in: container).value }

  @usableFromInline func set(_ value: Value, in container: AnyObject?) { resolver.cache(in: container).set(value) }
}

extension Preference: CustomStringConvertible {
  /// The key, if the declaration specifies one, and the type.
  public var description: String {
    "@Preference(\(resolver.declaration.key.map(\.debugDescription) ?? "")) of type \(Value.self)"
  }
}

extension Preference: NamedProperty {
  /// The identity of the property to which this wrapper belongs.
  public var identity: PropertyIdentity { resolver.identity }
}

extension Preference: NeedingProperty {
  /// The need for a registered store, which is optional because the property can use the standard file.
  package static var need: PropertyNeed {
    PropertyNeed(.optional, asksForValue: false, services: [(any PreferenceStore).self])
  }
}
