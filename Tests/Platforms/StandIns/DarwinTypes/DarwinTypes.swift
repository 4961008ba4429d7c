// The names are Apple's.
// swift-format-ignore-file

// The types of Darwin that have the names of functions, because a Swift module can't declare both.

package import Glibc

/// The signal action, which wraps Linux's.
public struct sigaction {
  package var base = Glibc.sigaction()
  public init() {}

  public struct Handler { public let __sa_handler: (@convention(c) (Int32) -> Void)? }
  public var __sigaction_u: Handler { Handler(__sa_handler: base.__sigaction_handler.sa_handler) }
}
