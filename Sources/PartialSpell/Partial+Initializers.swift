internal import SpellRegistry

extension Partial {
  /// A property that is loaded, then tells a closure.
  ///
  /// A closure that names wrapped properties of the container is a "circular reference" to the compiler: give such a
  /// hook as a method.
  ///
  /// - Parameters:
  ///   - resource: The resource's name; the type's where it is left out.
  ///   - onInjection: Called once for each value loaded, with the container and the value, after it is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init<Container: AnyObject>(
    _ resource: String? = nil, onInjection: @escaping (Container, Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    self.init(
      PropertyDeclaration(place: place, hook: PropertyDeclaration.hook(at: place, onInjection)), resource: resource)
  }

  /// A property that is loaded, then tells a method of its container.
  ///
  /// - Parameters:
  ///   - resource: The resource's name; the type's where it is left out.
  ///   - method: Such as `Menu.didLoad`; called once for each value loaded, after it is stored.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init<Container: AnyObject>(
    _ resource: String? = nil, injected method: @escaping (Container) -> (Value) -> Void,
    fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
  ) {
    self.init(resource, onInjection: { method($0)($1) }, fileID: fileID, line: line, column: column)
  }
}
