public import SpellRegistry

// Only `validate()` reports errors with these codes.

extension InjectionError.Code {
  /// A registration has no effect, because another registration always wins or has replaced it.
  public static let shadowed = Self(description: "shadowed")
  /// Two registrations have equal rank for the same property.
  public static let ambiguous = Self(description: "ambiguous")
  /// A kept value holds a value whose scope ends earlier, or that a child registry overrides.
  public static let scopeCapture = Self(description: "scopeCapture")
  /// Each property gets its own value of a type whose values should be shared.
  public static let notShared = Self(description: "notShared")
}
