extension JSONText {
  /// The text of a value that is to be set; nil for a value that is nil.
  init?<Value: Encodable>(of value: Value, forKey key: String) throws(PreferenceError) {
    try PreferenceError.check(key)
    do {
      self = try JSONText(encoding: value)
    } catch {
      throw PreferenceError(
        .invalidValue, "the value of type \(Value.self) could not be encoded, and was not set",
        key: key, underlying: error)
    }
    if isNull { return nil }
  }

  /// The value that was stored.
  func value<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value {
    do {
      return try decode(type)
    } catch {
      let shown = string.count > 100 ? string.prefix(100) + "..." : string[...]
      throw PreferenceError(
        .typeMismatch,
        "the value is \(shown), which can't be read as \(type); it was kept."
          + " Read it as the type it was written as, set it anew or remove it",
        key: key, underlying: error)
    }
  }
}
