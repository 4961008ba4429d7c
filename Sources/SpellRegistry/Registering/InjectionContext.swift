internal import Support

/// The purpose of a program's values, which chooses among the initializers that a declared key has.
///
/// A registry has a context of its own: ``InitializerRegistry/context``.
public enum InjectionContext: Sendable, Hashable, CaseIterable {
  /// The program itself.
  case live
  /// A test. A key's `test` initializer is used if it has one.
  case test
  /// A preview of a view in Xcode. A key's `preview` initializer is used if it has one.
  case preview

  /// The context of this process: a preview if Xcode says so in the environment, a test if a test runner started it.
  static let ofProcess: InjectionContext = isPreviewProcess ? .preview : isTestProcess ? .test : .live
}
