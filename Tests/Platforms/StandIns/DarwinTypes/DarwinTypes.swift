// The names are Apple's.
// swift-format-ignore-file

// Types of Darwin with the names of functions, which one module of Swift can't have.

package import Glibc

/// It holds Linux's, since nothing looks into it.
public struct sigaction {
  package var base = Glibc.sigaction()
  public init() {}
}
