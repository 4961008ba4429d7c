// Every call of this module that differs from platform to platform.

internal import Support
internal import SpellRegistry

/// Messages on the standard error for what would else go unnoticed.
enum Warnings {
  private static let warned = Lock<Set<ObjectIdentifier>>([])

  /// Prints a line, the first time that it is about this class.
  static func warnOnce(of type: any AnyObject.Type, _ message: @autoclosure () -> String) {
    guard warned.withLock({ $0.insert(ObjectIdentifier(type)).inserted }) else { return }
    writeToStandardError("Warning: \(message())\n")
  }
}
