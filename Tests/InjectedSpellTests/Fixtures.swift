/// The types that the suites inject: a protocol, a class and its subclass.
protocol Tracker: AnyObject, Sendable { var label: String { get } }
// `@unchecked Sendable`: the only property of the class and its subclass is a constant.
class BaseTracker: Tracker, @unchecked Sendable {
  let label: String
  init(_ label: String = "") { self.label = label }
}
final class FileTracker: BaseTracker, @unchecked Sendable {}

final class Clock: Sendable {}
