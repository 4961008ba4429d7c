internal import SpellRegistry

/// An error that occurs when a `@Partial` property's value can't be loaded.
///
/// A ``PartialLoader`` throws the error with the resource and the locations that were searched. The property adds its
/// own name and the file and line of its declaration.
public struct PartialError: Error, Sendable {
  /// The reason that a value can't be loaded.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as it is spelled in source.
    public let description: String

    /// No ``PartialLoader`` is registered for the property.
    public static let noLoader = Code(description: "noLoader")
    /// The resource isn't at any of the ``PartialError/places``.
    ///
    /// A property of an Optional type doesn't report this error, and is nil instead.
    public static let notFound = Code(description: "notFound")
    /// The resource exists but can't be read.
    public static let unreadable = Code(description: "unreadable")
    /// The resource was read but can't be decoded as the type.
    public static let undecodable = Code(description: "undecodable")
    /// The loader doesn't load values of the type.
    public static let unsupportedType = Code(description: "unsupportedType")
    /// The loader needs the main actor, but the property wasn't read on the main actor.
    public static let wrongIsolation = Code(description: "wrongIsolation")
    /// The loader couldn't be created, or failed for another reason; see ``PartialError/underlying``.
    public static let loaderFailed = Code(description: "loaderFailed")
    /// The registry couldn't provide the value.
    ///
    /// Either the initializer that is registered for the type failed, or it needs the property itself, or the registry
    /// no longer exists. ``PartialError/underlying`` has the reason.
    public static let notMade = Code(description: "notMade")
  }

  /// The reason that the value couldn't be loaded.
  public let code: Code
  /// The name of the type whose value couldn't be loaded.
  public let typeName: String
  /// The name of the resource that the property asked for.
  public let resource: String
  /// The locations that were searched, in order, or only the location of a resource that exists but couldn't be loaded.
  public let places: [String]
  /// The error that caused this error, such as an error of the loader or the file system.
  public let underlying: (any Error)?
  /// The property as `Container.property`; nil until a property of a class or an actor adds it.
  public private(set) var property: String?
  /// The file and line of the property's declaration, as `Module/File.swift:line`; nil until the property adds them.
  public private(set) var declaration: String?

  /// Creates an error for a loader to throw.
  ///
  /// - Parameters:
  ///   - code: The reason that the value can't be loaded.
  ///   - type: The type of the value to load.
  ///   - resource: The resource's name.
  ///   - places: The locations that were searched, such as file paths; if the resource exists, only its location.
  ///   - underlying: The error that the loader caught.
  public init(
    _ code: Code, of type: any Any.Type, resource: String, places: [String] = [], underlying: (any Error)? = nil
  ) {
    (self.code, typeName, self.resource) = (code, TypeName.of(type), resource)
    (self.places, self.underlying) = (places, underlying)
  }

  /// Returns a copy of the error with the name and the declaration of the property that was read.
  func located(at point: InjectionPoint) -> PartialError {
    let step = point.step()
    var error = self
    (error.property, error.declaration) = (step.property, step.declaration)
    return error
  }
}

extension PartialError: CustomStringConvertible {
  /// A message with the type, the property, the reason, the locations that were searched, and the underlying error.
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
