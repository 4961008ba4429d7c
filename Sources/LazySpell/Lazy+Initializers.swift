public import SpellRegistry

extension Lazy {
  /// A plain constant, which any thread may read through ``value``.
  ///
  /// ```swift
  /// final class Service: Sendable {
  ///   let number = Lazy { 9 }
  /// }
  /// ```
  @inlinable public init(
    _ initializer: @escaping @Sendable () -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, expression: initializer))
  }

  /// A property that takes what is registered for it, then tells a closure.
  ///
  /// A closure that names wrapped properties of the container is a "circular reference" to the compiler: give such a
  /// hook as a method.
  ///
  /// - Parameters:
  ///   - onInjection: Called once for each value made, with the container and the value, after it is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    onInjection: @escaping (Container, Value) -> Void, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(PropertyDeclaration(place: place, hook: PropertyDeclaration.hook(at: place, onInjection)))
  }

  /// A property with an expression that tells a closure of its value.
  ///
  /// - Parameters:
  ///   - expression: Runs at the first read.
  ///   - onInjection: Called once for each value made, with the container and the value, after it is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    wrappedValue expression: @autoclosure @escaping () -> Value,
    onInjection: @escaping (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      PropertyDeclaration(place: place, expression: expression, hook: PropertyDeclaration.hook(at: place, onInjection)))
  }

  /// A property that takes what is registered for it, then tells a method of its container.
  ///
  /// - Parameters:
  ///   - method: Such as `Screen.didMake`; called once for each value made, after it is stored.
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

  /// A property with an expression that tells a method of its container of the value.
  ///
  /// - Parameters:
  ///   - expression: Runs at the first read.
  ///   - method: Such as `Screen.didMake`; called once for each value made, after it is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  @inlinable public init<Container: AnyObject>(
    wrappedValue expression: @autoclosure @escaping () -> Value,
    injected method: @escaping (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      wrappedValue: expression(), onInjection: { method($0)($1) }, fileID: fileID, line: line, column: column)
  }
}
