import SpellTesting
import Support
import Testing

/// The issues that SpellTesting reports while `body` runs, which aren't those of the running test.
func issues(
  during body: () async throws -> Void
) async rethrows -> [(text: String, location: SourceLocation)] {
  let reported = Lock<[(text: String, location: SourceLocation)]>([])
  try await Issue.$receiver.withValue({ text, location in reported.withLock { $0.append((text, location)) } }) {
    try await body()
  }
  return reported.withLock { $0 }
}
