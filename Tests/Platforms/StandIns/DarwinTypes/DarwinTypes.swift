// The names are Apple's.
// swift-format-ignore-file

// Types of Darwin with the names of functions, which one module of Swift can't have.

package import Glibc

/// It holds Linux's.
public struct sigaction {
  package var base = Glibc.sigaction()
  public init() {}

  public struct Handler { public let __sa_handler: (@convention(c) (Int32) -> Void)? }
  public var __sigaction_u: Handler { Handler(__sa_handler: base.__sigaction_handler.sa_handler) }
}
