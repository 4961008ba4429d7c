public import SpellRegistry

extension Injected {
  /// A property that asks with a name instead of its own.
  @inlinable public init(_ name: String, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, alias: name), .once)
  }

  /// A property that asks as often as `policy` says.
  @inlinable public init(
    _ policy: InjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place), policy == .once ? .once : .everyRead)
  }

  /// A property that holds its value weakly: it reads nil once nobody else holds one and nothing is registered that
  /// does.
  ///
  /// - Precondition: `Object` is a class, or a protocol that only classes conform to.
  @inlinable public init<Object>(
    _ policy: WeakInjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == Object? {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place), .weak(WeakValue()))
  }

  /// A property that takes what is registered for it, then tells a closure.
  ///
  /// A closure that names wrapped properties of the container is a "circular reference" to the compiler: give such a
  /// hook as a method.
  ///
  /// - Parameters:
  ///   - onInjection: Called once for each injection, with the container and the value, after it is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    onInjection: @escaping (Container, Value) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, hook: PropertyDeclaration.hook(at: place, onInjection)), .once)
  }

  /// A property that takes what is registered for it, then tells a method of its container.
  ///
  /// - Parameters:
  ///   - method: Such as `Page.didGet`; called once for each injection, after the value is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    injected method: @escaping (Container) -> (Value) -> Void, fileID: StaticString = #fileID,
    line: UInt = #line,
    column: UInt = #column
  ) {
    self.init(onInjection: { method($0)($1) }, fileID: fileID, line: line, column: column)
  }
}
