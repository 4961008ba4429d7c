public import PreferenceStorage
public import SpellRegistry

/// A property that is kept in a preferences store, under the property's name.
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
/// The store is the one registered as `(any PreferenceStore).self`, for the class of the enclosing object or for all, in the
/// registry that was current when the object was made. If none is, it is `FilePreferenceStore.standard`, or in a test a store in
/// memory. A plain constant, read through ``value``, asks the registry that is current at each use.
///
/// *When the work happens*: nothing happens at declaration. The first use finds the name and the store. A read decodes the
/// value once for each change of it. An assignment is in the store when it returns, which for a file means one append.
///
/// *Observation*: a read is tracked by the Observation framework. An assignment, a reset, another object, the store, or another
/// process that changes the value is noticed, on the thread that makes or finds the change, after the new value can be read.
///
/// *Threads*: reads and assignments are safe from any thread. A `+=` is a read and a write: if several threads or
/// processes count, use `try $property.update { $0 += 1 }`.
///
/// *Errors*: a value that can't be decoded reads as the default, stays in the store as it is, and isn't replaced by an assignment,
/// since that may build on the default. `$property.error` has the reason why an assignment wasn't kept, the store's `errors`
/// report it, and so does the standard error in debug builds. `$property.load()`, `.set(_:)` and `.update(_:)` throw instead.
///
/// *Traps*: a property of a struct, or a local variable, needs a key. A store that is registered as its own type, not as
/// `(any PreferenceStore).self`, would be passed over for the standard file: that stops the program instead.
@propertyWrapper public struct Preference<Value: Codable & Sendable>: Sendable {
  let resolver: PreferenceResolver<Value>
  /// The same, to be read without retaining it; `resolver` keeps it.
  @usableFromInline let unretainedResolver: Unmanaged<PreferenceResolver<Value>>

  private init(
    at place: SourcePlace, _ key: String?, _ defaultValue: DefaultValue<Value>?, _ store: (any PreferenceStore)? = nil,
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
  ///   - defaultValue: What the property reads as until it is set. It is never stored. If it is an Optional and isn't nil, a nil
  ///     that is assigned is stored as `{"#nil":null}`, and `reset()` removes the value.
  ///   - key: The key in the store. If it is left out, the property's name; that works only in a class or an actor.
  ///   - store: The store; the registered one if it is left out.
  ///   - formerKeys: Keys that the value had before. If the store has none under the present key, the property reads the
  ///     value of the first of these that has one. The first assignment moves it to the present key.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    wrappedValue defaultValue: Value, _ key: String? = nil, store: (any PreferenceStore)? = nil,
    formerly formerKeys: FormerPreferenceKey..., fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key, .constant(defaultValue), store, formerKeys)
  }

  /// Creates a property of an Optional type, which is nil until it is set; assigning nil removes the value.
  public init(
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value: ExpressibleByNilLiteral {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), nil, .constant(nil))
  }

  /// Creates a property whose key and default are chosen in the initializer of the enclosing object.
  ///
  /// ```swift
  /// @Preference var token: String
  /// init(user: String) { _token = Preference(wrappedValue: "", user) }
  /// ```
  ///
  /// - Precondition: Another one is assigned before the first use.
  public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), nil, nil)
  }

  /// Creates a property, or a plain constant, with a declared key, which gives it its type and its default.
  ///
  /// - Parameters:
  ///   - key: The declared key, whose default is evaluated at each read while the property isn't set.
  ///   - store: The store; the registered one if it is left out.
  ///   - formerKeys: Keys that the value had before; see the initializer with a default.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    _ key: PreferenceKey<Value>, store: (any PreferenceStore)? = nil, formerly formerKeys: FormerPreferenceKey...,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key.name, .declared(key), store, formerKeys)
  }

  /// Creates a property, or a plain constant, that is nil until it is set; assigning nil removes the value.
  ///
  /// - Parameters:
  ///   - key: The key in the store.
  ///   - store: The store; the registered one if it is left out.
  ///   - formerKeys: Keys that the value had before; see the initializer with a default.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
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

  /// Creates a plain constant, read and set through ``value``.
  ///
  /// - Parameters:
  ///   - key: The key in the store.
  ///   - defaultValue: What it reads as until it is set. It is never stored.
  ///   - store: The store; if it is left out, the one registered in the registry that is current at each use.
  ///   - formerKeys: Keys that the value had before; see the initializer with a default.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    _ key: String, default defaultValue: Value, store: (any PreferenceStore)? = nil,
    formerly formerKeys: FormerPreferenceKey..., fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(
      at: SourcePlace(fileID: fileID, line: line, column: column), key, .constant(defaultValue), store, formerKeys,
      isConstant: store == nil)
  }

  /// The value of a property of a class or an actor.
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

  /// The value of a property of a struct, or of a local.
  @inlinable public var wrappedValue: Value {
    get {
      let decoded = withExtendedLifetime(self) { unretainedResolver._withUnsafeGuaranteedRef { $0.decodedValue } }
      return decoded ?? value(in: nil)
    }
    nonmutating set { set(newValue, in: nil) }
  }

  /// The projection `$property`, in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    Projection(cache: container[keyPath: path].resolver.cache(in: container))
  }

  /// The projection `$property`, in a struct.
  ///
  /// A plain constant has the same operations itself.
  public var projectedValue: Projection { Projection(cache: resolver.cache(in: nil)) }
}

extension Preference {
  /// The value of a plain constant, in the store of the registry that is current.
  public var value: Value {
    get { resolver.constantCache.value }
    nonmutating set { resolver.constantCache.set(newValue) }
  }

  /// The key that the declaration gives.
  ///
  /// - Precondition: It gives one; the key of a property without is `$property.key`.
  public var key: String { resolver.declaration.key(of: identity, in: nil) }

  /// A read that finds no decoded value of the key's version; never inlined, so that it costs the others nothing.
  @inline(never) @usableFromInline func value(in container: AnyObject?) -> Value { resolver.cache(in: container).value }

  @usableFromInline func set(_ value: Value, in container: AnyObject?) { resolver.cache(in: container).set(value) }
}

extension Preference: CustomStringConvertible {
  /// The key, if the declaration gives one, and the type.
  public var description: String {
    "@Preference(\(resolver.declaration.key.map(\.debugDescription) ?? "")) of type \(Value.self)"
  }
}

extension Preference: NamedProperty {
  /// The identity of the property that this wrapper stores.
  public var identity: PropertyIdentity { resolver.identity }
}

extension Preference: NeedingProperty {
  /// A registration of a store; the standard file takes its place.
  package static var need: PropertyNeed {
    PropertyNeed(.optional, asksForValue: false, services: [(any PreferenceStore).self])
  }
}
