public import SpellRegistry

/// How often an `@Injected` property asks the registry.
public enum InjectionPolicy: Sendable {
  /// At the first read; the value is kept. The default.
  case once
  /// At every read; nothing is kept. The registry is the one that is current at the read, if `run` set one, such as for
  /// a request of a server. Otherwise it is the one that was current when the object was created.
  case everyRead
}

/// The policy of an `@Injected` property that doesn't keep its value alive.
public enum WeakInjectionPolicy: Sendable {
  /// The property asks at the first read and holds the value weakly. It reads nil when the value is gone, as a `weak
  /// var` does, until it is assigned or reset.
  case weak
}

// `fileID`, `line` and `column` are the location of the declaration, for messages.
extension Injected {
  /// Creates a property that resolves with `name` instead of its own name.
  @inlinable public init(_ name: String, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, alias: name))
  }

  /// Creates a property that resolves a declared key, and has the key's type.
  ///
  /// ```swift
  /// @Injected(.time) var time
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - policy: How often the property asks.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init(
    _ key: InjectionKey<Value>, _ policy: InjectionPolicy = .once, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, key: key), policy == .once ? .once : .everyRead)
  }

  /// Creates a property that resolves as often as `policy` specifies.
  @inlinable public init(
    _ policy: InjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place), policy == .once ? .once : .everyRead)
  }

  /// Creates a property that holds its value weakly.
  ///
  /// - Precondition: `Object` is a class, or a protocol that only classes conform to.
  @inlinable public init<Object>(
    _ policy: WeakInjectionPolicy, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) where Value == Object? {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place), .weak(WeakValue()))
  }

  /// Creates a property that calls a closure after each injection.
  ///
  /// A closure that names wrapped properties of the enclosing class doesn't compile, since the compiler reports a
  /// circular reference, and a closure in a main-actor class can't be `@Sendable`. Pass a method instead.
  ///
  /// - Parameters:
  ///   - key: A declared key to resolve instead of the type.
  ///   - onInjection: Called once for each injection, with the enclosing object and the value, after the value is
  ///     stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @Sendable (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, key: key, hook: PropertyDeclaration.hook(at: place, onInjection)))
  }

  /// Creates a property that calls a method of the enclosing object after each injection.
  ///
  /// - Parameters:
  ///   - key: A declared key to resolve instead of the type.
  ///   - onInjection: A method such as `Page.didGet`, called once for each injection, after the value is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @Sendable (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    self.init(key, onInjection: { onInjection($0)($1) }, fileID: fileID, line: line, column: column)
  }

  /// Creates a property of a main-actor class that calls a method of the enclosing object after each injection.
  ///
  /// - Parameters:
  ///   - key: A declared key to resolve instead of the type.
  ///   - onInjection: A method such as `Screen.didGet`, called once for each injection, after the value is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject & Sendable>(
    _ key: InjectionKey<Value>? = nil, onInjection: @escaping @MainActor (Container) -> @MainActor (Value) -> Void,
    fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      PropertyDeclaration(place: place, key: key, hook: PropertyDeclaration.mainActorHook(at: place, onInjection)))
  }
}
