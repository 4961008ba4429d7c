import SpellTesting
import Testing

/// Returns the issues that SpellTesting reports while `body` runs; they don't fail the running test.
func issues(
  during body: () async throws -> Void
) async rethrows -> [(text: String, location: SourceLocation)] {
  let (issues, receiver) = AsyncStream.makeStream(of: (text: String, location: SourceLocation).self)
  try await Issue.$receiver.withValue(receiver) { try await body() }
  receiver.finish()
  return await issues.reduce(into: []) { $0.append($1) }
}
