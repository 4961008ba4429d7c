/// What is to become of one key: what one line of the file, or a part of it, does to it.
public struct PreferenceChange: Sendable, Equatable {
  /// The key, of any characters.
  public internal(set) var key: String
  /// The value's new text; nil removes the key.
  var text: JSONText?

  /// The key's new value as JSON, in one line; nil removes the key.
  public var json: String? { text?.string }
}
