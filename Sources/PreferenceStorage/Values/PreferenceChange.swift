/// What one line of the file, or a part of it, does to one key.
struct PreferenceChange: Sendable, Equatable {
  var key: String
  /// The value's new text; nil removes the key.
  var text: JSONText?
}
