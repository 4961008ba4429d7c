/// The advice at the end of a message about a bug in this package.
let reportThis = "Report this text as an issue of Spellbook's repository."

/// Stops the program with a message, even in release builds, in which `preconditionFailure` prints no message.
///
/// If the current registry belongs to a test, and `place` isn't nil, the test first gets the message as an issue.
package func trap(_ message: String, at place: SourcePlace? = nil) -> Never {
  guard let place else { fatalError(message) }
  InitializerRegistry.current.reportFailure(message, at: place)
  fatalError(message, file: place.fileID, line: UInt(place.line))
}
