import LazySpell

/// A container in a file of its own, for the suites in the others.
final class OtherFile {
  @Lazy var number = 21
}
