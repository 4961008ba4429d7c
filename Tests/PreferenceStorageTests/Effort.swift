import Foundation

/// The number of attempts: few by default, and all if the environment has `PREFERENCE_TESTS=long`.
enum Effort {
  static let isLong = ProcessInfo.processInfo.environment["PREFERENCE_TESTS"] == "long"

  static func count(_ short: Int, long: Int) -> Int { isLong ? long : short }
}
