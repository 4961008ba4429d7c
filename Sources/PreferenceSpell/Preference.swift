public import PreferenceStorage
public import SpellRegistry

/// A property that is kept in a preferences store, under the property's name.
///
/// ```swift
/// final class Settings {
///   @Preference var nickname = "guest"                  // key "nickname"; "guest" until it is set
///   @Preference var lastOpened: Date?                   // nil until it is set; nil removes
///   @Preference("ui.theme") var theme = Theme.light     // a key of its own
/// }
/// struct Options { @Preference("options.verbose") var verbose = false }
/// enum Shared { static let launches = Preference("launches", default: 0) }
/// try Shared.launches.update { $0 += 1 }
/// ```
///
/// The store is the one registered as `(any PreferenceStore).self`, for the container's class or for all, in the registry
/// that was current when the object was made; `FilePreferenceStore.standard` where none is. A plain constant asks the
/// registry that is current when it is used, since a static lives longer than any of them.
///
/// *When*: nothing happens at declaration. The first use finds the name and the store; a read decodes the value once for
/// each change of the store; an assignment is in the store when it returns, which for a file means one append.
///
/// *Cost*: a re-read costs an atomic load, an atomic exchange and a copy, whatever the value's type.
///
/// *Threads*: reads and assignments are safe from any thread. A `+=` is a read and a write: where several threads or
/// processes count, use `try $property.update { $0 += 1 }`, or `try constant.update { $0 += 1 }`.
///
/// *Errors*: reads and assignments can't throw. A value that can't be decoded reads as the default and stays as it is in
/// the store; an assignment that can't be written leaves the old value. `$property.error` has
/// the reason of both, and the store's `errors` that of the latter. `$property.load()`, `.set(_:)` and `.update(_:)` throw
/// instead.
///
/// *Traps*: a property of a struct, or a local, has no name that could be found: give it a key. A store that is registered
/// as its own type, not as `(any PreferenceStore).self`, would be passed over for the standard file: that stops the
/// program instead.
@propertyWrapper public struct Preference<Value: Codable & Sendable>: Sendable {
  let declaration: PreferenceDeclaration<Value>
  let resolver: PreferenceResolver<Value>
  /// The same, to be read without retaining it; `resolver` keeps it.
  @usableFromInline let unretainedResolver: Unmanaged<PreferenceResolver<Value>>

  private init(_ declaration: PreferenceDeclaration<Value>, isConstant: Bool = false) {
    self.declaration = declaration
    resolver = PreferenceResolver(registry: isConstant ? nil : .current)
    unretainedResolver = Unmanaged.passUnretained(resolver)
  }

  /// A property with a default.
  ///
  /// - Parameters:
  ///   - defaultValue: What the property reads as until it is set. It is never stored.
  ///   - key: The key in the store; the property's name where it is left out, as only a class or an actor can.
  ///   - store: The store; the registered one where it is left out.
  ///   - formerKeys: Keys that the value had before. Where the store has none under the present key, the value of the
  ///     first of these is moved there, at the first use.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    wrappedValue defaultValue: Value, _ key: String? = nil, store: (any PreferenceStore)? = nil,
    formerly formerKeys: String..., fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      PreferenceDeclaration(
        place: place, key: key, defaultValue: defaultValue, store: store, formerKeys: formerKeys))
  }

  /// A property that is nil until it is set, under its own name; assigning nil removes the value.
  public init(
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value: ExpressibleByNilLiteral {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PreferenceDeclaration(place: place, key: nil, defaultValue: nil, store: nil, formerKeys: []))
  }

  /// A property that is nil until it is set; assigning nil removes the value.
  ///
  /// - Parameters:
  ///   - key: The key in the store; the property's name where it is left out, as only a class or an actor can.
  ///   - store: The store; the registered one where it is left out.
  ///   - formerKeys: Keys that the value had before; see the initializer with a default.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    _ key: String? = nil, store: (any PreferenceStore)? = nil, formerly formerKeys: String...,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value: ExpressibleByNilLiteral {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      PreferenceDeclaration(place: place, key: key, defaultValue: nil, store: store, formerKeys: formerKeys))
  }

  /// Not there: what is neither set nor nil needs a default.
  @available(*, unavailable, message: "A preference that is not Optional needs a default: '@Preference var name = 5'.")
  public init(_ key: String? = nil, store: (any PreferenceStore)? = nil) { fatalError() }

  /// A plain constant, read and set through ``value``.
  ///
  /// ```swift
  /// static let launches = Preference("launches", default: 0)
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key in the store.
  ///   - defaultValue: What it reads as until it is set. It is never stored.
  ///   - store: The store; where it is left out, the one registered in the registry that is current at each use.
  ///   - formerKeys: Keys that the value had before; see the initializer with a default.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    _ key: String, default defaultValue: Value, store: (any PreferenceStore)? = nil, formerly formerKeys: String...,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      PreferenceDeclaration(
        place: place, key: key, defaultValue: defaultValue, store: store, formerKeys: formerKeys),
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

  /// What `$property` offers, in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    Projection(cache: container[keyPath: path].cache(in: container))
  }

  /// What `$property` offers, in a struct.
  ///
  /// A plain constant has the same operations itself.
  public var projectedValue: Projection { Projection(cache: cache(in: nil)) }
}

extension Preference {
  /// The value of a plain constant; the same as ``wrappedValue``.
  public var value: Value {
    get { wrappedValue }
    nonmutating set { wrappedValue = newValue }
  }

  /// The key that the declaration gives.
  ///
  /// - Precondition: It gives one; the key of a property without is `$property.key`.
  public var key: String { declaration.key(of: identity, in: nil) }

  /// A read that finds no decoded value of the store's version; never inlined, so that it costs the others nothing.
  @inline(never) @usableFromInline func value(in container: AnyObject?) -> Value { cache(in: container).value }

  @usableFromInline func set(_ value: Value, in container: AnyObject?) { cache(in: container).set(value) }

  func cache(in container: AnyObject?) -> PreferenceCache<Value> {
    resolver.cache { registry in declaration.cache(in: container, asking: registry, for: identity) }
  }
}

extension Preference: NamedProperty {
  /// Which property this wrapper stores.
  public var identity: PropertyIdentity {
    PropertyIdentity(address: Unmanaged.passUnretained(resolver).toOpaque(), place: declaration.place)
  }

  /// A registration of a store; the standard file takes its place.
  public static var need: PropertyNeed { .service((any PreferenceStore).self, .optional) }
}
