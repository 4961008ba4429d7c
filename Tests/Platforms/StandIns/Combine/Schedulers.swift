// The names are Apple's.
// swift-format-ignore-file

public import Dispatch

public protocol Scheduler<SchedulerTimeType> {
  associatedtype SchedulerTimeType
  associatedtype SchedulerOptions
  func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void)
}
extension Scheduler {
  public func schedule(_ action: @escaping () -> Void) { schedule(options: nil, action) }
}

public struct ImmediateScheduler: Scheduler {
  public typealias SchedulerTimeType = Int
  public typealias SchedulerOptions = Never
  public static let shared = ImmediateScheduler()
  public func schedule(options: Never?, _ action: @escaping () -> Void) { action() }
}

/// On Apple platforms, Foundation declares this conformance.
extension DispatchQueue: Scheduler {
  public typealias SchedulerTimeType = DispatchTime
  public struct SchedulerOptions {}
  public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    let action = Action(run: action)
    async { action.run() }
  }
  /// `@unchecked Sendable`: only the queue runs the closure, once.
  private struct Action: @unchecked Sendable { let run: () -> Void }
}
