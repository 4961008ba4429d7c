public import SpellRegistry

// Only `validate()` reports these.

extension InjectionError.Code {
  /// The registration can never win, because another one always does.
  public static let shadowed = Self(description: "shadowed")
  /// Two registrations have equal rank for the same property.
  public static let ambiguous = Self(description: "ambiguous")
  /// A longer-lived value holds a shorter-lived value.
  public static let scopeCapture = Self(description: "scopeCapture")
  /// Each property gets its own value of a type whose values should be shared.
  public static let notShared = Self(description: "notShared")
}
