import SpellRegistry

/// A wrapper on the public storage, as someone outside the package would write it.
@propertyWrapper struct Spell<Value>: NamedProperty {
  var storage: PropertyStorage<Value>
  var identity: PropertyIdentity { storage.identity }

  init(_ alias: String? = nil, line: UInt = #line, column: UInt = #column) {
    let place = SourcePlace(fileID: #fileID, line: line, column: column)
    storage = PropertyStorage(PropertyDeclaration(place: place, alias: alias))
  }

  init(wrappedValue: @autoclosure @escaping () -> Value, line: UInt = #line, column: UInt = #column) {
    let place = SourcePlace(fileID: #fileID, line: line, column: column)
    storage = PropertyStorage(PropertyDeclaration(place: place, expression: wrappedValue))
  }

  init<Container: AnyObject>(
    hook: @escaping (Container, Value) -> Void, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: #fileID, line: line, column: column)
    storage = PropertyStorage(
      PropertyDeclaration(place: place, hook: PropertyDeclaration<Value>.hook(hook)))
  }

  static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    get {
      let storage = container[keyPath: path].storage
      return stopping(at: storage.declaration.place) { () throws(InjectionError) in
        try storage.resolve(in: container, followsReinjection: true)
      }
    }
    set { container[keyPath: path].storage = container[keyPath: path].storage.replaced(with: newValue) }
  }

  var wrappedValue: Value {
    get {
      stopping(at: storage.declaration.place) { () throws(InjectionError) in
        try storage.resolve(in: nil, followsReinjection: true)
      }
    }
    set { storage = storage.replaced(with: newValue) }
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

// `@unchecked`: the storage is thread-safe, and the tests give it sendable closures only.
extension Spell: @unchecked Sendable where Value: Sendable {}

private func stopping<Result>(
  at place: SourcePlace, _ body: () throws(InjectionError) -> Result
) -> Result {
  do throws(InjectionError) { return try body() } catch { error.stop(at: place) }
}
