internal import Support

/// The situation in which a registry is used: the program itself, a test, or an Xcode preview.
///
/// Each registry has a context: ``InitializerRegistry/context``. The context selects one of the initializers of a
/// declared key.
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
