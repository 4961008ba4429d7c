/// An error about a value or a file of a configuration.
///
/// Never shows a value because each may be a secret.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// The kind of error.
  public let code: Code
  /// The service, if the error is about a value.
  public let service: String?
  /// The key, if the error is about a value.
  public let key: String?
  /// The path of the file, if the error is about one.
  public let path: String?
  private let message: String

  init(
    _ code: Code, service: String? = nil, key: String? = nil, path: String? = nil, _ message: String
  ) {
    self.code = code
    self.service = service
    self.key = key
    self.path = path
    self.message = message
  }

  /// The service and key or the file, what is wrong, and what to do about it.
  public var description: String {
    let place = path ?? [service, key].compactMap(\.self).joined(separator: ".")
    return place.isEmpty ? message : "\(place): \(message)"
  }
}

extension ConfigurationError {
  /// The kinds of errors.
  ///
  /// More may be added, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// There is no value for a required key.
    public static let missing = Code("missing")
    /// The value can't be read as the requested type.
    public static let malformed = Code("malformed")
    /// A configuration file exists and can't be read.
    public static let unreadableFile = Code("unreadableFile")
    /// A configuration file isn't what ``LayeredConfiguration/Layer/file(_:)`` reads, or has a key twice.
    public static let malformedFile = Code("malformedFile")
  }
}
