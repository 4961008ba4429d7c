public import SpellRegistry

// Only `validate()` reports errors with these codes.

extension InjectionError.Code {
  /// A registration has no effect, because another registration is always chosen or has replaced it.
  ///
  /// An instance that is registered `as: .anySupertype` is also reported if an older registration is chosen for one of
  /// the instance's supertypes.
  public static let shadowed = Self(description: "shadowed")
  /// Two registrations have equal rank for a request, and only their age decides which registration is chosen.
  public static let ambiguous = Self(description: "ambiguous")
  /// A kept value holds another value, whose scope ends earlier or which a child registry overrides.
  public static let scopeCapture = Self(description: "scopeCapture")
  /// Each property may get its own value of a type whose values should be shared.
  public static let notShared = Self(description: "notShared")
}
