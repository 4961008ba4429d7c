public import SpellRegistry

/// A property whose value is loaded from a resource when it is first read, once, whichever thread reads it.
///
/// ```swift
/// final class Menu {
///   @Partial var theme: Theme                       // the resource "Theme"
///   @Partial("SmallTheme") var small: Theme         // the resource "SmallTheme"
///   @Partial var draft: Draft?                      // nil where there is no resource "Draft"; looks again next time
///   @Partial(injected: Menu.didLoad) var texts: Texts
///   func didLoad(_ texts: Texts) { print(texts.title) }
/// }
/// InitializerRegistry.current.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
/// ```
///
/// The registered initializer of the type itself comes first, where there is one. Else a ``PartialLoader`` loads the
/// value: the one that is registered, for the container's class and the property's name if so, in the registry that was
/// current when the object was made. The resource is named after the type, without its module and with the brackets of
/// an Optional left out, unless the declaration gives a name.
///
/// *When*: nothing happens at declaration but one allocation; the first read loads; each read after it costs one atomic
/// load.
///
/// *Threads*: any number may read at once, the first read included: one loads, with no lock held, and the others wait for
/// it. Resetting is a write: like a write to any stored property, it needs the isolation that the container has.
///
/// *Traps*: a read whose value can't be loaded stops the program with the property's name, its type, the resource and
/// the places that were searched. `try $property.load()` throws ``PartialError`` instead. Nothing is kept of a failure.
///
/// A struct's copies share the value. In a class that is checked `Sendable`, and as a static, use it as a plain constant:
/// `let theme = Partial<Theme>()`, read through ``value``.
@frozen @propertyWrapper public struct Partial<Value> {
  @usableFromInline let storage: PropertyStorage<Value>
  /// The name that the declaration gives.
  let givenName: String?

  init(_ declaration: PropertyDeclaration<Value>, resource: String? = nil) {
    storage = PropertyStorage(declaration)
    givenName = resource
  }

  /// A property that is loaded from the resource that is named after its type.
  public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    self.init(PropertyDeclaration(place: SourcePlace(fileID: fileID, line: line, column: column)))
  }

  /// A property that is loaded from the resource of this name.
  public init(_ resource: String, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place), resource: resource)
  }

  /// The value of a property of a class or an actor.
  @inlinable
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: KeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    @inline(__always) get {
      let slot = container[keyPath: path].storage.slot
      if slot.isReady { return withExtendedLifetime(container) { slot.readyValue } }
      return container[keyPath: path].makeValue(in: container)
    }
  }

  /// The value of a property of a struct, or of a local.
  @inlinable public var wrappedValue: Value {
    if storage.slot.isReady {
      return withExtendedLifetime(self) { storage.slot.readyValue }
    }
    return makeValue(in: nil)
  }

  /// What `$property` offers, in a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: KeyPath<Container, Projection>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Projection {
    Projection(partial: container[keyPath: path], container: container)
  }

  /// What `$property` offers, in a struct; on a plain constant, `constant.projectedValue`.
  public var projectedValue: Projection { Projection(partial: self, container: nil) }
}

// What makes it true is the storage's gate, one atomic word: a value is written before the word is stored as ready
// with releasing order and read after it is loaded with acquiring order (see `CreationGate`); a later one is behind
// the slot's `PublishedPointer`, an atomic too. A value goes to other threads only where it is Sendable. The hook
// runs where the container is.
extension Partial: @unchecked Sendable where Value: Sendable {}

extension Partial: NamedProperty {
  /// Which property this wrapper stores.
  public var identity: PropertyIdentity { storage.identity }
}
