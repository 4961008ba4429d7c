/// A signal of the operating system, such as SIGTERM.
public struct LaunchSignal: RawRepresentable, Hashable, Sendable {
  /// The signal's number.
  public let rawValue: Int32

  /// Creates the signal with a number.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SIGTERM: a request to end the program, as service managers and containers send it.
  public static let terminate = LaunchSignal(rawValue: 15)
  /// SIGINT: Ctrl-C in a terminal.
  public static let interrupt = LaunchSignal(rawValue: 2)
  /// SIGHUP: the terminal was closed.
  public static let hangUp = LaunchSignal(rawValue: 1)
}
