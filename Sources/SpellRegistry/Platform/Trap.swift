/// Stops the program with a sentence, in release builds too (where `preconditionFailure` says nothing).
package func trap(_ message: String, at place: SourcePlace? = nil) -> Never {
  if let place { fatalError(message, file: place.fileID, line: UInt(place.line)) }
  fatalError(message)
}
