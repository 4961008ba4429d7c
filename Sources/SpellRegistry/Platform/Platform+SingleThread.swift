// WebAssembly without threads: there is nothing to wait for, and nothing ends.

#if os(WASI) && !_runtime(_multithreaded)
  /// One pointer.
  ///
  /// `@unchecked Sendable`: there is one thread.
  @safe struct ThreadLocalPointer: @unchecked Sendable {
    private let place = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: 1)

    init(atThreadEnd cleanUp: @convention(c) (UnsafeMutableRawPointer) -> Void) { unsafe place.initialize(to: nil) }

    var pointer: UnsafeMutableRawPointer? {
      get { unsafe place.pointee }
      nonmutating set { unsafe place.pointee = newValue }
    }
  }

  /// Not known, so a chain of initializers that is too long isn't found out.
  func stackOfThisThread() -> (lowest: UInt, size: Int)? { nil }
#endif
