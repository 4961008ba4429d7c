public import SpellRegistry

/// A property whose value is loaded from a resource when it is first read, once, on whichever thread.
///
/// ```swift
/// final class Menu {
///   @Partial var theme: Theme                   // the resource "Theme"
///   @Partial("Small") var small: Theme          // the resource "Small"
///   @Partial var draft: Draft?                  // nil without a "Draft"
///   @Partial(onInjection: Menu.didLoad) var texts: Texts
///   func didLoad(_ texts: Texts) { print(texts.title) }
/// }
/// registry.register((any PartialLoader).self) {
///   DecodablePartialLoader(folder: folder)
/// }
/// ```
///
/// If an initializer is registered for the type itself, it creates the value. Otherwise a ``PartialLoader`` loads it:
/// the one that is registered for the enclosing object's class and the property's name, in the registry that was
/// current when the object was created. The resource has the name of the type, without its module and without Optional,
/// unless the declaration gives another name.
///
/// *When*: Declaring the property takes one allocation. The first read loads the value. Each later read takes one
/// atomic load.
///
/// *Threads*: Any number of threads may read at once, including the first read. One of them loads the value, with no
/// lock held, and the others wait for it. Resetting is a write: like a write to any stored property, it needs the
/// isolation of the enclosing object.
///
/// *Traps*: A read stops the program if the value can't be loaded. The message has the property's name, its type, the
/// resource and the places that were searched. `try $property.load()` throws a ``PartialError`` instead. The next read
/// tries again.
///
/// Copies of a struct share the value until one of them is reset. In a class that is checked `Sendable` and as a
/// static, use a constant, which has the operations of `$property` itself: `let theme = Partial<Theme>()`,
/// `theme.value`, `theme.reset()`.
@frozen @propertyWrapper public struct Partial<Value> {
  @usableFromInline var storage: PropertyStorage<Value>
  /// The name that the declaration gives.
  let givenName: String?
  private let hook: ((AnyObject, Value) -> Void)?

  private init(at place: SourcePlace, resource: String?, hook: ((AnyObject, Value) -> Void)? = nil) {
    storage = PropertyStorage(at: place)
    givenName = resource
    self.hook = hook
  }

  /// Creates a property that is loaded from the resource with the name of its type.
  public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), resource: nil)
  }

  /// Creates a property that is loaded from the resource with this name.
  public init(_ resource: String, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(at: SourcePlace(fileID: fileID, line: line, column: column), resource: resource)
  }

  /// Creates a property that calls a closure after its value is loaded.
  ///
  /// A closure that names wrapped properties of the enclosing class doesn't compile, since the compiler reports a
  /// circular reference, and a closure in a main-actor class can't be `@Sendable`. Pass a method instead.
  ///
  /// - Parameters:
  ///   - resource: The resource's name. The default is the name of the type.
  ///   - onInjection: Called once for each value, with the enclosing object and the value, after the value is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init<Container: AnyObject>(
    _ resource: String? = nil, onInjection: @escaping @Sendable (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, resource: resource, hook: propertyHook(at: place, onInjection))
  }

  /// Creates a property that calls a method of the enclosing object after its value is loaded.
  ///
  /// - Parameters:
  ///   - resource: The resource's name. The default is the name of the type.
  ///   - onInjection: A method such as `Menu.didLoad`, called once for each value, after the value is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init<Container: AnyObject>(
    _ resource: String? = nil, onInjection: @escaping @Sendable (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(resource, onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property of a main-actor class that calls a method of the enclosing object after its value is loaded.
  ///
  /// - Parameters:
  ///   - resource: The resource's name. The default is the name of the type.
  ///   - onInjection: A method such as `Menu.didLoad`, called once for each value, after the value is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init<Container: AnyObject & Sendable>(
    _ resource: String? = nil, onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(at: place, resource: resource, hook: mainActorPropertyHook(at: place, onInjection))
  }

  /// The value of a property of a class or an actor.
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

  /// The value of a property of a struct, or of a local variable.
  @inlinable public var wrappedValue: Value {
    if storage.memory.isReady { return withExtendedLifetime(self) { storage.memory.read() } }
    return makeValue(in: nil)
  }

  /// The projection `$property`, in a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: ReferenceWritableKeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    get { Projection(partial: container[keyPath: path], container: container) }
    set {
      let old = container[keyPath: path]
      container[keyPath: path] = newValue.partial
      withExtendedLifetime(old) {}
    }
  }

  /// The projection `$property`, in a struct.
  @inlinable public var projectedValue: Projection {
    get { Projection(partial: self, container: nil) }
    set {
      let old = self
      self = newValue.partial
      withExtendedLifetime(old) {}
    }
  }

  /// The value of a constant; the same as ``wrappedValue``.
  @inlinable public var value: Value { wrappedValue }

  /// The first read; never inlined, so that it costs the later ones nothing.
  @inline(never) @usableFromInline func makeValue(in container: AnyObject?) -> Value {
    do throws(PartialError) { return try load(in: container) } catch {
      trap(
        "\(error.description)\n  A property cannot throw; `try $property.load()` can, and throws this error.",
        at: storage.place)
    }
  }
}

// `@unchecked Sendable`: the atomic `gate` of the storage guards the first value, which the one thread that begins the gate
// writes, and others read after they load the gate as ready, acquiring. A newer value is read under the storage's lock. Hooks
// are `@Sendable`, or run after a check that the thread is the main actor's.
extension Partial: @unchecked Sendable where Value: Sendable {}

extension Partial: CustomStringConvertible {
  /// The value, if there is one, and where the property is declared.
  public var description: String { storage.description(of: "Partial") }
}

extension Partial: NamedProperty {
  /// The identity of the property.
  public var identity: PropertyIdentity { storage.identity }
}

extension Partial: NeedingProperty {
  /// A registration of the value's type, else of a ``PartialLoader``.
  package static var need: PropertyNeed { PropertyNeed(.required, services: [(any PartialLoader).self]) }
}

// MARK: Loading

extension Partial {
  fileprivate func load(in container: AnyObject?) throws(PartialError) -> Value {
    do throws(InjectionError) {
      return try storage.makeValue(in: container, hook: hook) { memory, point throws(InjectionError) in
        do throws(PartialError) {
          guard let value = try load(at: point) else { return false }
          memory.put(value)
          return true
        } catch {
          throw InjectionError(.initializerFailed, through: [point.step()], underlying: error)
        }
      }
    } catch {
      // The error of the property's own loader has one step, in which no registration ran.
      if error.steps.count == 1, error.steps[0].registration == nil, let error = error.underlying as? PartialError {
        throw error
      }
      throw PartialError(.notMade, of: Value.self, resource: resource, underlying: error)
        .located(at: storage.point(in: container))
    }
  }

  /// The resource's name: the one that the declaration gives, otherwise the type's.
  private var resource: String {
    if let givenName { return givenName }
    let type = (Value.self as? any OptionalValue.Type)?.wrappedType ?? Value.self
    let name = TypeName.of(type)
    return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
  }

  /// Loads the value with the registered loader.
  ///
  /// Returns nil for an Optional whose resource doesn't exist.
  private func load(at point: InjectionPoint) throws(PartialError) -> Value? {
    let loader: any PartialLoader
    do throws(InjectionError) {
      loader = try storage.registry.resolve(
        (any PartialLoader).self, named: point.propertyName, in: point.container)
    } catch {
      let isMissing = error.code == .notRegistered && error.path.count == 1
      throw PartialError(
        isMissing ? .noLoader : .loaderFailed, of: Value.self, resource: resource,
        underlying: isMissing ? nil : error
      ).located(at: point)
    }
    do {
      if let optional = Value.self as? any OptionalPartial.Type {
        return try optional.load(named: resource, with: loader) as? Value
      }
      return try loader.load(Value.self, named: resource)
    } catch let error as PartialError where error.declaration == nil {
      if error.code == .notFound && Value.self is any OptionalValue.Type { return nil }
      throw error.located(at: point)
    } catch {
      throw PartialError(.loaderFailed, of: Value.self, resource: resource, underlying: error)
        .located(at: point)
    }
  }
}

/// Lets an Optional be loaded as what it wraps.
private protocol OptionalPartial {
  static func load(named resource: String, with loader: any PartialLoader) throws -> Self
}

extension Optional: OptionalPartial {
  fileprivate static func load(named resource: String, with loader: any PartialLoader) throws -> Self {
    try loader.load(Wrapped.self, named: resource)
  }
}

// MARK: The operations of a constant, and the projection

extension Partial {
  /// Whether the value has been loaded.
  ///
  /// Doesn't load it.
  public var isLoaded: Bool { storage.hasValue }

  /// Returns the value as a read does, but throws an error if a read would stop the program.
  ///
  /// - Throws: A ``PartialError`` if the value can't be loaded. The next read tries again.
  @discardableResult
  public func load() throws(PartialError) -> Value { try load(in: nil) }

  /// Drops the value of a constant.
  ///
  /// The next read loads it again.
  ///
  /// Safe while other threads read. Therefore the first value stays in memory as long as the constant does. For a
  /// property, use `$property.reset()`.
  public func reset() { storage.forget() }

  /// The projection `$property`.
  @frozen public struct Projection {
    @usableFromInline var partial: Partial
    /// The enclosing object; nil in a struct and for a local variable.
    @usableFromInline let container: AnyObject?

    @inlinable init(partial: Partial, container: AnyObject?) {
      self.partial = partial
      self.container = container
    }

    /// Whether the value has been loaded.
    ///
    /// Doesn't load it.
    public var isLoaded: Bool { partial.isLoaded }

    /// Returns the value as a read does, but throws an error if a read would stop the program.
    ///
    /// - Throws: A ``PartialError`` if the value can't be loaded. The next read tries again.
    @discardableResult
    public func load() throws(PartialError) -> Value { try partial.load(in: container) }

    /// Drops the value.
    ///
    /// The next read loads it again.
    ///
    /// Copies of a struct keep theirs. Readers that wait for a value that is being loaded get that value.
    @inlinable public mutating func reset() { partial.storage = partial.storage.replacedWithNothing() }
  }
}
