/// What a step that took too long is said to have failed with.
struct TimeoutError: Error, CustomStringConvertible {
  let message: String
  var description: String { message }
}
