internal import Support

/// The purpose of a registry's values, which selects one of a declared key's initializers.
///
/// Each registry has a context: ``InitializerRegistry/context``.
public enum InjectionContext: Sendable, Hashable {
  /// The program itself, outside of tests and previews.
  case live
  /// A test, which uses a key's `test` initializer if the key has one.
  case test
  /// A preview of a view in Xcode, which uses a key's `preview` initializer if the key has one.
  case preview

  /// The context of this process: `.preview` in an Xcode preview, `.test` under a test runner, `.live` otherwise.
  static let ofProcess: InjectionContext = isPreviewProcess ? .preview : isTestProcess ? .test : .live
}
