public import SpellRegistry

// Only `validate()` reports errors with these codes.

extension InjectionError.Code {
  /// Another registration always wins over a registration, or has replaced it.
  ///
  /// An instance for any supertype is also reported if an older registration wins for exactly one of the supertypes.
  public static let shadowed = Self(description: "shadowed")
  /// Two registrations have equal rank for a request, and only their age decides.
  public static let ambiguous = Self(description: "ambiguous")
  /// A kept value holds another value, whose scope ends earlier or which a child registry overrides.
  public static let scopeCapture = Self(description: "scopeCapture")
  /// Each property may get its own value of a type whose values should be shared.
  public static let notShared = Self(description: "notShared")
}
