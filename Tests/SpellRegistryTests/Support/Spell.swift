import SpellRegistry

/// A wrapper of a property's storage, with everything that a wrapper can have.
@propertyWrapper struct Spell<Value>: NamedProperty {
  var storage: PropertyStorage<Value>
  private let expression: (() -> Value)?
  private let hook: ((AnyObject, Value) -> Void)?
  var identity: PropertyIdentity { storage.identity }

  init(_ name: String? = nil, line: UInt = #line, column: UInt = #column) {
    storage = PropertyStorage(at: SourcePlace(fileID: #fileID, line: line, column: column), named: name)
    (expression, hook) = (nil, nil)
  }

  init(wrappedValue: @autoclosure @escaping () -> Value, line: UInt = #line, column: UInt = #column) {
    storage = PropertyStorage(at: SourcePlace(fileID: #fileID, line: line, column: column))
    (expression, hook) = (wrappedValue, nil)
  }

  init<Container: AnyObject>(
    hook: @escaping (Container, Value) -> Void, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: #fileID, line: line, column: column)
    storage = PropertyStorage(at: place)
    (expression, self.hook) = (nil, propertyHook(at: place, hook))
  }

  static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    get { container[keyPath: path].read(in: container) }
    set { container[keyPath: path].storage = container[keyPath: path].storage.replaced(with: newValue) }
  }

  var wrappedValue: Value {
    get { read(in: nil) }
    set { storage = storage.replaced(with: newValue) }
  }

  private func read(in container: AnyObject?) -> Value {
    do throws(InjectionError) {
      return try storage.makeValue(
        in: container, followsReinjection: true, expression: expression.map { make in { _, _ in make() } }, hook: hook)
    } catch { error.stop(at: storage.place) }
  }

  static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, projected _: ReferenceWritableKeyPath<Container, PropertyStorage<Value>>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> PropertyStorage<Value> {
    get { container[keyPath: path].storage }
    set { container[keyPath: path].storage = newValue }
  }

  var projectedValue: PropertyStorage<Value> {
    get { storage }
    set { storage = newValue }
  }
}

// `@unchecked Sendable`: the storage's atomic `gate` and lock `newer` guard the value, and tests pass only `@Sendable`
// closures.
extension Spell: @unchecked Sendable where Value: Sendable {}
