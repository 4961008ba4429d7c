// Values that have to be there, and values that are more than text.

extension Configurable {
  /// Returns the value of a required key.
  ///
  /// - Parameters:
  ///   - service: The service that the key is of.
  ///   - key: The key.
  /// - Returns: The value in the current stage.
  /// - Throws: ``ConfigurationError`` of code `.missing`, with what there is instead.
  public func requiredValue(for service: String, key: String) throws(ConfigurationError) -> String {
    guard let value = value(for: service, key: key) else {
      throw ConfigurationError(
        .missing, service: service, key: key, "no value in stage \(currentStage()). \(hint(for: service, key: key))")
    }
    return value
  }

  /// Returns the value of a key as a number, a Bool, or another type that can be read from text.
  ///
  /// ```swift
  /// let limit = try configuration.value(for: "Network", key: "Limit", as: Int.self) ?? 4
  /// ```
  ///
  /// A Bool may be written `true`, `yes`, `on`, `1`, or their opposites, in upper or lower case.
  ///
  /// - Parameters:
  ///   - service: The service that the key is of.
  ///   - key: The key.
  ///   - type: What to read it as.
  /// - Returns: The value; nil if there is none.
  /// - Throws: ``ConfigurationError`` of code `.malformed` if there is a value that can't be read as the type. The error says
  ///   where the value is, and doesn't show it.
  public func value<Value: LosslessStringConvertible>(
    for service: String, key: String, as type: Value.Type
  ) throws(ConfigurationError) -> Value? {
    guard let text = value(for: service, key: key) else { return nil }
    if type == Bool.self {
      switch text.lowercased() {
      case "true", "yes", "on", "1": return true as? Value
      case "false", "no", "off", "0": return false as? Value
      default: break
      }
    }
    guard let value = Value(text) else {
      let source = (self as? LayeredConfiguration)?.source(of: service, key: key) ?? "\(Self.self)"
      throw ConfigurationError(
        .malformed, service: service, key: key,
        "the value in stage \(currentStage()), from \(source), can't be read as \(type). Correct it there.")
    }
    return value
  }

  /// Returns the value of a required key as a number, a Bool, or another type that can be read from text.
  ///
  /// - Parameters:
  ///   - service: The service that the key is of.
  ///   - key: The key.
  ///   - type: What to read it as.
  /// - Returns: The value in the current stage.
  /// - Throws: ``ConfigurationError`` of code `.missing` or `.malformed`.
  public func requiredValue<Value: LosslessStringConvertible>(
    for service: String, key: String, as type: Value.Type
  ) throws(ConfigurationError) -> Value {
    if let value = try value(for: service, key: key, as: type) { return value }
    // Throws, since there is no value.
    _ = try requiredValue(for: service, key: key)
    throw ConfigurationError(
      .missing, service: service, key: key, "the value was removed while it was read. Read it again.")
  }
}
