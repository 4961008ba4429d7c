/// Why a value of the configuration could not be had.
///
/// Never shows a value, since any may be a secret.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  public let code: Code
  /// The service that was asked for, where the failure is about one.
  public let service: String?
  /// The key that was asked for, where the failure is about one.
  public let key: String?
  /// The path of the file, where the failure is about one.
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

  /// What happened, where, and what there is instead.
  public var description: String {
    let place = path ?? [service, key].compactMap(\.self).joined(separator: ".")
    return place.isEmpty ? message : "\(place): \(message)"
  }
}

extension ConfigurationError {
  /// The kinds of failure.
  ///
  /// More may come, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as in the source.
    public let description: String

    private init(_ name: String) { description = name }

    /// There is no value, and the caller can't do without.
    public static let missing = Code("missing")
    /// There is a value, and it can't be read as the type that was asked for.
    public static let malformed = Code("malformed")
    /// A configuration file exists and can't be read.
    public static let unreadableFile = Code("unreadableFile")
    /// A configuration file isn't what ``LayeredConfiguration/Layer/file(_:)`` reads.
    public static let malformedFile = Code("malformedFile")
  }
}
