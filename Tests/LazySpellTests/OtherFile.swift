import LazySpell

/// A container in a separate file, for the suites in the other files.
final class OtherFile {
  @Lazy var number = 21
}
