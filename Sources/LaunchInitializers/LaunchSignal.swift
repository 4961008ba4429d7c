/// A signal of the operating system, such as SIGTERM.
public struct LaunchSignal: RawRepresentable, Hashable, Sendable {
  /// The signal's number, such as 15 for SIGTERM.
  public let rawValue: Int32

  /// Creates the signal that has the given number on the operating system.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SIGTERM, with which service managers and container runtimes ask a program to end.
  public static let terminate = LaunchSignal(rawValue: 15)
  /// SIGINT, which Ctrl-C in a terminal sends.
  public static let interrupt = LaunchSignal(rawValue: 2)
  /// SIGHUP, with which an operator asks a program to read its configuration or certificates again.
  public static let hangup = LaunchSignal(rawValue: 1)

  /// Unavailable, because the signal has another name in this package.
  @available(*, unavailable, renamed: "terminate") public static var sigterm: LaunchSignal { .terminate }
  /// Unavailable, because the signal has another name in this package.
  @available(*, unavailable, renamed: "interrupt") public static var sigint: LaunchSignal { .interrupt }
  /// Unavailable, because the signal has another name in this package.
  @available(*, unavailable, renamed: "hangup") public static var sighup: LaunchSignal { .hangup }
}
