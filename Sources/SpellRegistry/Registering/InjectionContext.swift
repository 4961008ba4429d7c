internal import Support

/// The purpose of a program's values, which chooses among the initializers of a declared key.
///
/// Each registry has a context: ``InitializerRegistry/context``.
public enum InjectionContext: Sendable, Hashable {
  /// The program itself, outside of tests and previews.
  case live
  /// A test, which uses a key's `test` initializer if the key has one.
  case test
  /// A preview of a view in Xcode, which uses a key's `preview` initializer if the key has one.
  case preview

  /// The context of this process: a preview if Xcode says so in the environment, a test if a test runner started it.
  static let ofProcess: InjectionContext = isPreviewProcess ? .preview : isTestProcess ? .test : .live
}
