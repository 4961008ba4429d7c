/// What a wrapped property's declaration says, and the registry that was current when its object was made.
@frozen public struct PropertyDeclaration<Value> {
  /// Where the property is declared.
  public let place: SourcePlace
  /// The property's own expression, as in `@Lazy var clock = Clock()`.
  public let expression: (() -> Value)?
  /// The registry that took the place of the shared one; nil if none did.
  @usableFromInline let reference: RegistryReference?
  /// The declared key to ask for instead of the type.
  @usableFromInline let key: InjectionKeys?
  /// What few declarations say: apart, so that the others are small.
  @usableFromInline let options: Options?

  @usableFromInline final class Options {
    let alias: String?
    let hook: ((AnyObject, Value) -> Void)?

    @usableFromInline init(alias: String?, hook: ((AnyObject, Value) -> Void)?) {
      self.alias = alias
      self.hook = hook
    }
  }

  /// Creates a declaration, with the registry that is current now.
  ///
  /// - Parameters:
  ///   - place: Where the property is declared.
  ///   - key: The declared key to ask for instead of the type.
  ///   - alias: The name to ask with instead of the property's own.
  ///   - expression: The property's own expression.
  ///   - hook: The property's own hook. It runs only for a property of an object, in the isolation in which that is read.
  @inlinable public init(
    place: SourcePlace, key: InjectionKey<Value>? = nil, alias: String? = nil, expression: (() -> Value)? = nil,
    hook: ((AnyObject, Value) -> Void)? = nil
  ) {
    self.place = place
    self.key = key
    self.expression = expression
    options = alias == nil && hook == nil ? nil : Options(alias: alias, hook: hook)
    reference = .current
  }

  @inlinable init(
    place: SourcePlace, expression: (() -> Value)?, reference: RegistryReference?, key: InjectionKeys?,
    options: Options?
  ) {
    self.place = place
    self.expression = expression
    self.reference = reference
    self.key = key
    self.options = options
  }

  /// The registry that the property asks.
  ///
  /// - Precondition: The registry is still there; see ``InitializerRegistry/run(_:)``.
  public var registry: InitializerRegistry {
    guard let reference else { return .shared }
    if let registry = reference.registry { return registry }
    trap(Self.adviceOnGoneRegistry, at: place)
  }

  /// What to say if the registry is gone.
  static var adviceOnGoneRegistry: String {
    """
    The registry that this property of type \(TypeName.of(Value.self)) asks is gone. An object that a registry keeps \
    doesn't keep the registry: hold the registry for as long as you use such an object.
    """
  }

  /// The name to ask with instead of the property's own.
  public var alias: String? { options?.alias }
  /// The property's own hook, called with the object that holds the property and the value.
  public var hook: ((AnyObject, Value) -> Void)? { options?.hook }

  /// Makes a hook of a closure that takes an object of one class.
  ///
  /// - Parameters:
  ///   - place: Where the property is declared; for the message.
  ///   - body: The closure to call with the object that holds the property and the value.
  /// - Precondition: The property is in that class, or in a subclass of it.
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

  /// Makes a hook of a method of a main-actor class.
  ///
  /// - Precondition: The property is in that class, or in a subclass of it, and is read on the main actor.
  @usableFromInline package static func mainActorHook<Container: AnyObject & Sendable>(
    at place: SourcePlace, _ method: @escaping @MainActor (Container) -> @MainActor (Value) -> Void
  ) -> (AnyObject, Value) -> Void {
    hook(at: place) { (container: Container, value) in
      guard isOnMainActor() else {
        trap(
          """
          A property of type \(TypeName.of(Value.self)) in \(TypeName.of(type(of: container))) has a hook of the main \
          actor, and was read elsewhere. Read the property on the main actor.
          """, at: place)
      }
      callOnMainActor(value) { method(container)($0) }
    }
  }
}

/// A place in source, as `Module/File.swift:line`.
public struct SourcePlace: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline let fileID: StaticString
  @usableFromInline let line: UInt32
  @usableFromInline let column: UInt32

  /// The place that `#fileID`, `#line` and `#column` tell.
  @inlinable public init(fileID: StaticString, line: UInt, column: UInt = 0) {
    self.fileID = fileID
    self.line = UInt32(truncatingIfNeeded: line)
    self.column = UInt32(truncatingIfNeeded: column)
  }

  /// `Module/File.swift:line`.
  public var description: String { "\(fileID):\(line)" }

  /// Whether both are the same place, by the address of the file's name.
  ///
  /// Equal places may compare as different; different places never compare as equal.
  public static func == (left: SourcePlace, right: SourcePlace) -> Bool {
    unsafe left.fileID.utf8Start == right.fileID.utf8Start && left.line == right.line && left.column == right.column
  }

  /// Feeds what `==` compares.
  public func hash(into hasher: inout Hasher) {
    unsafe hasher.combine(fileID.utf8Start)
    hasher.combine(line)
    hasher.combine(column)
  }
}
