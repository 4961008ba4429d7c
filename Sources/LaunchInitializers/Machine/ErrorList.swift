/// A list of errors in order, without the middle part if there are more than 100 errors.
///
/// Without this limit, a service that restarts for months would fill the memory.
struct ErrorList: Sendable {
  /// The maximum number of errors in each half of the list: the first errors, and the latest errors.
  static let part = 50

  private var first: [any Error] = []
  private var latest: [any Error] = []

  var all: [any Error] { first + latest }

  mutating func append(_ error: any Error) {
    if first.count < Self.part { return first.append(error) }
    if latest.count == Self.part { latest.removeFirst() }
    latest.append(error)
  }
}

/// The errors of several services of one attempt that were closed by one job.
struct SeveralErrors: Error, CustomStringConvertible {
  let all: [any Error]
  var description: String { all.map { "\($0)" }.joined(separator: "; ") }
}
