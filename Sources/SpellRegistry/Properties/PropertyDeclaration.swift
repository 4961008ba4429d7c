/// What a wrapped property's declaration says, and the registry that was current when its object was made.
public struct PropertyDeclaration<Value> {
  /// Where the property is declared.
  public let place: SourcePlace
  /// The name to ask with instead of the property's own.
  public let alias: String?
  /// The property's own expression, as in `@Lazy var clock = Clock()`.
  public let expression: (() -> Value)?
  /// The property's own hook: called with the container and the value.
  public let hook: ((AnyObject, Value) -> Void)?
  /// The registry to ask.
  public let registry: InitializerRegistry

  /// A declaration, with the registry that is current now.
  @inlinable public init(
    place: SourcePlace, alias: String? = nil, expression: (() -> Value)? = nil,
    hook: ((AnyObject, Value) -> Void)? = nil
  ) {
    self.place = place
    self.alias = alias
    self.expression = expression
    self.hook = hook
    registry = .current
  }
}

extension PropertyDeclaration {
  /// Makes a hook of a closure that takes a container of one class.
  ///
  /// - Parameters:
  ///   - place: Where the property is declared; for the message.
  ///   - body: What to call with the container and the value.
  /// - Precondition: The property is in that class, or in a class below it.
  public static func hook<Container: AnyObject>(
    at place: SourcePlace? = nil, _ body: @escaping (Container, Value) -> Void
  ) -> (AnyObject, Value) -> Void {
    { container, value in
      guard let container = container as? Container else {
        trap(
          """
          A property of type \(TypeName.of(Value.self)) in \(TypeName.of(type(of: container))) has a hook for \
          \(TypeName.of(Container.self)). Write the hook for the class that declares the property.
          """, at: place)
      }
      body(container, value)
    }
  }
}
