@_exported public import SpellRegistry

/// A property that loads its value from a resource only once, when any thread first reads the property.
///
/// ```swift
/// final class Menu {
///   @Partial var theme: Theme                   // the resource "Theme"
///   @Partial("Small") var small: Theme          // the resource "Small"
///   @Partial var draft: Draft?                  // nil without a "Draft"
///   @Partial(onInjection: Menu.didLoad) var texts: Texts
///   func didLoad(_ texts: Texts) { print(texts.title) }
/// }
/// registry.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
/// ```
///
/// If an initializer is registered for the type itself, that initializer creates the value. Otherwise, a
/// ``PartialLoader`` loads the value. The property takes the most specific loader for the enclosing object's class and
/// the property's name, from the registry that was current when the object was created. The resource has the name of
/// the type, without its module and without Optional, unless the declaration gives another name.
///
/// *Cost*: Declaring the property takes one allocation. The first read loads the value. Each later read takes one
/// atomic load.
///
/// *Threads*: Any number of threads may read at once, including the first read. One of them loads the value, with no
/// lock held, and the others wait for it. Resetting needs the isolation of the enclosing object, like a write to any
/// stored property.
///
/// *Traps*: A read stops the program if the value can't be loaded. The message has the property's name, its type, the
/// resource and the locations that were searched. To get a ``PartialError`` instead, call `try $property.load()`. If
/// the load fails, or if the property reads nil because the resource is missing, the next read tries again.
///
/// Copies of a struct share the value until the property of one copy is reset. In a class with a checked `Sendable`
/// conformance, or for a static property, declare a constant. You call the operations of `$property` on the constant
/// itself: `let theme = Partial<Theme>()`, `theme.value`, `theme.reset()`.
@frozen @propertyWrapper public struct Partial<Value> {
  @usableFromInline var storage: PropertyStorage<Value>
  /// The resource's name in the declaration; nil if the declaration gives none.
  let givenName: String?
  private let hook: ((AnyObject, Value) -> Void)?

  private init(at place: SourcePlace, resource: String?, hook: ((AnyObject, Value) -> Void)? = nil) {
    storage = PropertyStorage(at: place)
    (givenName, self.hook) = (resource, hook)
  }

  /// Creates a property that is loaded from the resource with the given name or, by default, the name of its type.
  public init(_ resource: String? = nil, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), resource: resource)
  }

  /// Creates a property that calls a closure after its value is loaded.
  ///
  /// A closure that names wrapped properties of the enclosing class may not compile, because of a circular reference,
  /// and a closure in a main-actor class can't use the object's main-actor state. Pass a method in these cases. The
  /// parameters have the same meaning in all forms of this initializer.
  ///
  /// - Parameters:
  ///   - resource: The resource's name. The default is the name of the type.
  ///   - onInjection: Called once for each value, after the value is stored, with the enclosing object and the value.
  ///     Not called without an enclosing object.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, which distinguishes properties on the same line.
  public init<Container: AnyObject>(
    _ resource: String? = nil, onInjection: @escaping @Sendable (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, resource: resource, hook: propertyHook(at: place, onInjection))
  }

  /// Creates a property that passes its value, once loaded, to a method of the enclosing object.
  ///
  /// An example is `@Partial(onInjection: Menu.didLoad) var texts: Texts`, where `didLoad` takes a `Texts`.
  public init<Container: AnyObject>(
    _ resource: String? = nil, onInjection: @escaping @Sendable (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(resource, onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property that passes its value, once loaded, to a main-actor method of the enclosing object.
  ///
  /// This form is for the properties of a main-actor class.
  ///
  /// - Precondition: The first read of the property is on the main actor.
  public init<Container: AnyObject & Sendable>(
    _ resource: String? = nil, onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, resource: resource, hook: mainActorPropertyHook(at: place, onInjection))
  }

  /// The property's value, in a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: KeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let memory = container[keyPath: path].storage.memory
      if memory.isReady { return withExtendedLifetime(container) { memory.read() } }
      return container[keyPath: path].makeValue(in: container)
    }
  }

  /// The value of a property that is declared in a struct, or as a local variable.
  @inlinable public var wrappedValue: Value {
    if storage.memory.isReady { return withExtendedLifetime(self) { storage.memory.read() } }
    return makeValue(in: nil)
  }

  /// The projection `$property` in a class or an actor, with the enclosing object.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: ReferenceWritableKeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    get { Projection(partial: container[keyPath: path], container: container) }
    // The old value is released after the change, because its deinitializer may read the property.
    set { withExtendedLifetime(container[keyPath: path]) { container[keyPath: path] = newValue.partial } }
  }

  /// The projection `$property` in a struct or for a local variable, without an enclosing object.
  public var projectedValue: Projection {
    get { Projection(partial: self, container: nil) }
    set { withExtendedLifetime(self) { self = newValue.partial } }
  }

  /// The value, for a constant such as `let theme = Partial<Theme>()`.
  @inlinable public var value: Value { wrappedValue }

  /// The slow path of a read, which loads the value or stops the program.
  ///
  /// Never inlined, because the common read of a stored value has to stay small.
  @inline(never) @usableFromInline func makeValue(in container: AnyObject?) -> Value {
    do throws(PartialError) { return try load(in: container) } catch {
      let name = storage.point(in: container).step().propertyName ?? "property"
      trap("\(error)\n  A property can't throw; `try $\(name).load()` can, and throws this error.", at: storage.place)
    }
  }
}

// `@unchecked Sendable`: the atomic `state` of a `CreationGate` guards the first value, and the lock `later` in
// `PropertyFields` guards later ones. A hook is `@Sendable`, or checks that it runs on the main actor.
extension Partial: @unchecked Sendable where Value: Sendable {}

extension Partial: NamedProperty, NeedingProperty, CustomStringConvertible {
  /// The identity by which reflection finds the property's name.
  public var identity: PropertyIdentity { storage.identity }
  /// A text with the value, if there is one, and the file and line of the declaration.
  public var description: String { storage.description(of: "Partial") }
  /// The need for a registration, either for the value's type or for a ``PartialLoader``.
  package static var need: PropertyNeed { PropertyNeed(.required, services: [(any PartialLoader).self]) }
}

// MARK: Loading

extension Partial {
  fileprivate func load(in container: AnyObject?) throws(PartialError) -> Value {
    // The error of this property's loader, which is thrown in place of the `InjectionError` that wraps it.
    var ownError: PartialError?
    do throws(InjectionError) {
      return try storage.makeValue(in: container, hook: hook) { memory, point throws(InjectionError) in
        do throws(PartialError) {
          guard let value = try load(at: point) else { return false }
          memory.put(value)
          return true
        } catch {
          ownError = error
          throw InjectionError(.initializerFailed, through: [point.step()], underlying: error)
        }
      }
    } catch { throw ownError ?? failure(.notMade, because: error, at: storage.point(in: container)) }
  }

  /// The type to load, which is the property's type or, for an Optional, the wrapped type.
  private var loadedType: any Any.Type { (Value.self as? any OptionalValue.Type)?.wrappedType ?? Value.self }

  /// The resource's name, which is the name in the declaration or, if it gives none, the type's name.
  private var resource: String {
    if let givenName { return givenName }
    let name = TypeName.of(loadedType)
    return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
  }

  private func failure(
    _ code: PartialError.Code, because error: (any Error)?, at point: InjectionPoint
  ) -> PartialError {
    PartialError(code, of: Value.self, resource: resource, underlying: error).located(at: point)
  }

  /// Loads the value with the registered loader.
  ///
  /// Returns nil for an Optional whose resource doesn't exist.
  private func load(at point: InjectionPoint) throws(PartialError) -> Value? {
    let loader: any PartialLoader
    do throws(InjectionError) {
      // The registry that the property asks is current.
      loader = try InitializerRegistry.current.resolve(
        (any PartialLoader).self, named: point.propertyName, in: point.container)
    } catch {
      let isMissing = error.code == .notRegistered && error.path.count == 1
      throw failure(isMissing ? .noLoader : .loaderFailed, because: isMissing ? nil : error, at: point)
    }
    do {
      return try loader.load(loadedType, named: resource) as? Value
    } catch let error as PartialError where error.declaration == nil {
      if error.code == .notFound && Value.self is any OptionalValue.Type { return nil }
      throw error.located(at: point)
    } catch {
      throw failure(.loaderFailed, because: error, at: point)
    }
  }
}

// MARK: The operations of a constant, and the projection

extension Partial {
  /// Unavailable, because a property with its own expression has to be `@Lazy`.
  @available(*, unavailable, message: "A @Partial property is loaded from a resource: write @Lazy for an expression.")
  public init(
    wrappedValue: Value, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) { fatalError() }

  /// Whether the value has been loaded; reading `hasValue` doesn't load it.
  public var hasValue: Bool { storage.hasValue }

  /// Returns the value of a constant, but, unlike ``value``, throws an error instead of stopping the program.
  @discardableResult
  public func load() throws(PartialError) -> Value { try load(in: nil) }

  /// Drops the value of a constant, so that the next read loads a new value.
  ///
  /// The constant's first value stays in memory as long as the constant does, because other threads may be reading it.
  /// For a property, use `$property.reset()`.
  public func reset() { storage.forget() }

  /// The projection `$property`, with operations that a plain read doesn't offer.
  public struct Projection {
    fileprivate var partial: Partial
    /// The enclosing object; nil in a struct and for a local variable.
    fileprivate let container: AnyObject?

    /// Whether the value has been loaded; reading `hasValue` doesn't load it.
    public var hasValue: Bool { partial.hasValue }

    /// Returns the same value as a read of the property, but throws an error instead of stopping the program.
    ///
    /// - Throws: A ``PartialError`` if the value can't be loaded. The next read tries again.
    @discardableResult
    public func load() throws(PartialError) -> Value { try partial.load(in: container) }

    /// Drops the value, so that the next read loads a new value.
    ///
    /// If a struct has the property, other copies of the struct keep the value. Threads that wait for a value that is
    /// being loaded still get that value.
    public mutating func reset() { partial.storage = partial.storage.replacedWithNothing() }
  }
}
