internal import Support

/// The purpose of a registry's values, which selects one of a declared key's initializers.
///
/// Each registry has a context: ``InitializerRegistry/context``.
public enum InjectionContext: Sendable, Hashable {
  /// The context of the program itself, outside of tests and previews.
  case live
  /// The context of a test, in which a key's `test` initializer is used if the key has one.
  case test
  /// The context of an Xcode preview, in which a key's `preview` initializer is used if the key has one.
  case preview

  /// The context of this process: `.preview` in an Xcode preview, `.test` under a test runner, `.live` otherwise.
  static let ofProcess: InjectionContext = isPreviewProcess ? .preview : isTestProcess ? .test : .live
}
