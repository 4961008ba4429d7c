internal import SpellRegistry

/// An error that occurs when a `@Final` property can't be assigned.
public struct FinalError: Error, Sendable, CustomStringConvertible {
  /// A kind of error.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as it is spelled in source.
    public let description: String

    /// The property already has a value, which stays.
    public static let alreadyAssigned = Code(description: "alreadyAssigned")
    /// The property's registered initializer assigns it itself, instead of returning the value.
    public static let beingMade = Code(description: "beingMade")
  }

  /// The kind of error.
  public let code: Code
  /// `Container.property`, or where the property is declared.
  public let property: String
  private let typeName: String

  init(_ code: Code, property: String, of type: any Any.Type) {
    self.code = code
    self.property = property
    typeName = TypeName.of(type)
  }

  /// What went wrong, for which property, and what to do.
  public var description: String {
    switch code {
    case .beingMade:
      "\(property), of type \(typeName), is assigned by its own initializer. Return the value from it instead."
    default:
      "\(property), of type \(typeName), is assigned already, and @Final allows one assignment. Look at $property.isAssigned first, or declare it without @Final."
    }
  }
}
