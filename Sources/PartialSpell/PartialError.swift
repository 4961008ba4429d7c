internal import SpellRegistry

/// Why a `@Partial` property's value could not be loaded: the type, the resource and the places that were searched.
///
/// A ``PartialLoader`` throws it where it finds nothing; the property adds its own name and where it is declared.
public struct PartialError: Error, Sendable {
  /// What kind of fault it is.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as it is spelled in source.
    public let description: String

    /// No ``PartialLoader`` is registered for the property.
    public static let noLoader = Code(description: "noLoader")
    /// There is no such resource in ``PartialError/places``; an Optional property reads nil instead.
    public static let notFound = Code(description: "notFound")
    /// The resource is there and can't be read.
    public static let unreadable = Code(description: "unreadable")
    /// The resource was read and can't be made into the type.
    public static let undecodable = Code(description: "undecodable")
    /// The loader does not make values of the type.
    public static let unsupportedType = Code(description: "unsupportedType")
    /// The loader runs on the main actor, and was asked for from elsewhere.
    public static let wrongIsolation = Code(description: "wrongIsolation")
    /// The loader could not be made, or threw an error of its own, which is ``PartialError/underlying``.
    public static let loaderFailed = Code(description: "loaderFailed")
    /// What is registered for the type failed, or loading needs its own result; ``PartialError/underlying`` says which.
    public static let notMade = Code(description: "notMade")
  }

  /// What kind of fault it is.
  public let code: Code
  /// The name of the type that was to be loaded.
  public let typeName: String
  /// The resource's name.
  public let resource: String
  /// Where it was searched for, in order.
  public let places: [String]
  /// What the loader, or the file system, threw.
  public let underlying: (any Error)?
  /// `Container.property`, where the error came from a property of a class or an actor.
  public private(set) var property: String?
  /// Where the property is declared, as `Module/File.swift:line`.
  public private(set) var declaration: String?

  /// An error for a loader to throw.
  ///
  /// - Parameters:
  ///   - code: What kind of fault it is.
  ///   - type: The type that was to be loaded.
  ///   - resource: The resource's name.
  ///   - places: Where it was searched for, or the one place where it is.
  ///   - underlying: What was thrown below the loader.
  public init(
    _ code: Code, of type: any Any.Type, resource: String, places: [String] = [], underlying: (any Error)? = nil
  ) {
    self.code = code
    typeName = TypeName.of(type)
    self.resource = resource
    self.places = places
    self.underlying = underlying
  }

  /// The same error with the property that asked.
  func located(at point: InjectionPoint) -> PartialError {
    let step = point.step(point.propertyType)
    var error = self
    error.property = step.property
    error.declaration = step.declaration
    return error
  }
}

extension PartialError: CustomStringConvertible {
  /// What went wrong, for which property, where the resource was searched for, and what to do.
  public var description: String {
    var lines = ["The \(typeName)\(asker) could not be loaded: \(reason)"]
    if !places.isEmpty { lines.append("  Searched: \(places.joined(separator: ", "))") }
    if let underlying { lines.append("  Because: \(underlying)") }
    return lines.joined(separator: "\n")
  }

  private var asker: String {
    switch (property, declaration) {
    case (let property?, let declaration?): " for \(property) (\(declaration))"
    case (nil, let declaration?): " for the @Partial property declared at \(declaration)"
    default: ""
    }
  }

  private var reason: String {
    switch code {
    case .noLoader:
      """
      no PartialLoader is registered to find the resource "\(resource)". Register one: \
      registry.register((any PartialLoader).self) { DecodablePartialLoader(folder: folder) }
      """
    case .notFound: "there is no resource \"\(resource)\". Add it at one of the places searched, or name another one."
    case .unreadable: "the resource \"\(resource)\" is there and can't be read."
    case .undecodable: "the resource \"\(resource)\" does not have the content of a \(typeName)."
    case .unsupportedType:
      "the loader of the resource \"\(resource)\" does not make a \(typeName). Register another loader for this property."
    case .wrongIsolation:
      "the loader of the resource \"\(resource)\" runs on the main actor, and was asked for from elsewhere."
    case .notMade: "what is registered for it, or for the resource \"\(resource)\", gave no value."
    default: "the loader of the resource \"\(resource)\" failed."
    }
  }
}
