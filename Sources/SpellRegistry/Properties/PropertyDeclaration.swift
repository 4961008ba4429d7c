/// What a wrapped property's declaration says, and the registry that was current when its object was made.
@frozen public struct PropertyDeclaration<Value> {
  /// Where the property is declared.
  public let place: SourcePlace
  /// The property's own expression, as in `@Lazy var clock = Clock()`.
  public let expression: (() -> Value)?
  /// The registry that took the place of the shared one, which nobody need hold.
  @usableFromInline let override: InitializerRegistry?
  /// What few declarations say: apart, so that the others are small.
  @usableFromInline let options: Options?

  /// What a property may say besides.
  @usableFromInline final class Options {
    let alias: String?
    let hook: ((AnyObject, Value) -> Void)?

    @usableFromInline init(alias: String?, hook: ((AnyObject, Value) -> Void)?) {
      self.alias = alias
      self.hook = hook
    }
  }

  /// A declaration, with the registry that is current now.
  ///
  /// - Parameters:
  ///   - place: Where the property is declared.
  ///   - alias: The name to ask with instead of the property's own.
  ///   - expression: The property's own expression.
  ///   - hook: The property's own hook.
  @inlinable public init(
    place: SourcePlace, alias: String? = nil, expression: (() -> Value)? = nil,
    hook: ((AnyObject, Value) -> Void)? = nil
  ) {
    self.place = place
    self.expression = expression
    options = alias == nil && hook == nil ? nil : Options(alias: alias, hook: hook)
    override = .override
  }

  /// The registry to ask.
  @inlinable public var registry: InitializerRegistry { override ?? .shared }
  /// The name to ask with instead of the property's own.
  public var alias: String? { options?.alias }
  /// The property's own hook: called with the container and the value.
  public var hook: ((AnyObject, Value) -> Void)? { options?.hook }
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
