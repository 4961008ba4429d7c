/// A type of the program whose wrapped properties can't be told without an object, or not at all.
public struct HiddenType: Sendable, CustomStringConvertible {
  /// Why a type's wrapped properties aren't listed.
  public enum Reason: Sendable, Hashable {
    /// The type, or one that it is declared in, is generic: its properties have other types for each argument.
    case generic
    /// The type was built with `-disable-reflection-metadata`, so its properties have no names.
    case noReflectionMetadata
    /// The runtime finds no type for the metadata.
    case unknownToTheRuntime
  }

  /// The type's name, with those of the types that it is declared in: `Menu.Item`.
  public let name: String
  /// The name of the module that declares the type.
  public let module: String
  /// Why its properties aren't listed.
  public let reason: Reason
  /// The names of its wrapped properties; empty if they have none.
  public let propertyNames: [String]

  /// The type, its properties and the reason, in a sentence.
  public var description: String {
    let subject =
      propertyNames.isEmpty ? "\(module).\(name)" : "\(propertyNames.joined(separator: ", ")) of \(module).\(name)"
    let reason =
      switch reason {
      case .generic: "the type is generic"
      case .noReflectionMetadata: "its module was built with -disable-reflection-metadata"
      case .unknownToTheRuntime: "the runtime doesn't know it"
      }
    return "\(subject): not checked, since \(reason)."
  }
}
