// WebAssembly without threads has nothing to wait for, and its only thread never ends.

#if os(WASI) && !_runtime(_multithreaded)
  /// The pointer of the only thread.
  ///
  /// `@unchecked Sendable`: there is only one thread.
  @safe struct ThreadLocalPointer: @unchecked Sendable {
    private let place = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)

    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) { unsafe place.initialize(to: nil) }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe place.pointee }
      nonmutating set { unsafe place.pointee = newValue }
    }
  }

  /// Returns nil, because the bounds of the stack aren't known; a chain of initializers that overflows the stack isn't
  /// detected.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? { nil }
#endif
