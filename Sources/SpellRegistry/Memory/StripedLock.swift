internal import Support
internal import Synchronization

/// A lock that several threads can read under at once, without slowing each other down.
///
/// A registry's table is read by every request and changed rarely. Under a single lock, two threads that resolve values
/// from one registry are slower together than one thread alone, because each locking moves the lock's cache line from
/// one processor core to another. This lock therefore consists of several locks, the *stripes*, each in cache lines of
/// its own. A reader locks one stripe, chosen by its thread. A change locks all stripes, so that no reader sees a part
/// of the change.
///
/// **Few registries have stripes.** A registry that a test or a request makes for itself is rarely read by two threads
/// at the same moment, and stripes would cost it memory and time. At first, readers and changes share the lock `first`.
/// A reader that finds another reader in `first` adds the stripes, which stay until the registry ends.
///
/// **Why the memory is safe.** The compiler can't check the accesses to the memory behind `first`, `state` and
/// `stripes`, so these rules have to hold:
///
/// 1. The state is only changed by a thread that holds `first` and, if there are stripes, every stripe. It is only read
///    by a thread that holds `first` or a stripe. Any two such threads have a lock in common, unless both only read.
/// 2. The stripes are only added by a thread that holds `first`. A change holds `first`, too, so it sees either all the
///    stripes or none. If it sees none, no other thread can add them, and no reader can use them, until it has ended.
///    A reader that has seen no stripes, and locks `first` after another thread has added them, is still kept apart
///    from changes, because a change locks `first` in any case.
/// 3. The pointer to the stripes is stored with releasing and loaded with acquiring order, so a reader that finds it
///    finds initialized locks.
/// 4. A change locks `first` and then the stripes in their order, and a reader holds one lock at a time. Changes and
///    readers therefore never wait for each other in a cycle.
/// 5. The memory stays where it is until `deinit`. While `deinit` runs, no other thread uses the lock.
///
/// Each lock is a `Mutex` of the standard library. The flag `isRead` beside it guards nothing: it only decides whether
/// to add stripes.
///
/// **The number of stripes.** Threads have successive numbers, so two readers share a stripe only if more threads than
/// there are stripes read at the same time. A reader costs the same with any number. Each stripe adds about 20 ns to a
/// change.
///
/// - Precondition: `read` and `change` aren't called by a thread that is in one of these functions for the same lock.
@safe struct StripedLock<State: ~Copyable & Sendable>: ~Copyable {
  private struct Gate: ~Copyable {
    let lock = Lock(())
    /// Whether a reader holds the lock.
    let isRead = Atomic(false)
  }

  private struct Stripe: ~Copyable {
    let gate = Gate()
    /// Bytes that keep the next stripe out of the cache lines of this one.
    ///
    /// A line has 64 or 128 bytes, and many processors load lines of 64 bytes in pairs.
    private let padding = (Words(), Words())

    private struct Words {
      let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    }
  }

  /// The number of stripes, a power of two.
  private static var count: Int { 8 }

  /// The first lock and the state, each in memory of its own.
  ///
  /// They aren't fields of one value, because an access to a field counts as an access to the whole value, and a thread
  /// may lock `first` while another one changes the state.
  private let first: UnsafeMutablePointer<Gate>
  private let state: UnsafeMutablePointer<State>
  private let stripes = unsafe Atomic<UnsafeMutablePointer<Stripe>?>(nil)

  init(_ initial: consuming State) {
    unsafe (first, state) = (.allocate(capacity: 1), .allocate(capacity: 1))
    unsafe first.initialize(to: Gate())
    unsafe state.initialize(to: initial)
  }

  deinit {
    unsafe state.deinitialize(count: 1)
    unsafe first.deinitialize(count: 1)
    unsafe state.deallocate()
    unsafe first.deallocate()
    guard let stripes = unsafe stripes.load(ordering: .acquiring) else { return }
    unsafe stripes.deinitialize(count: Self.count)
    unsafe stripes.deallocate()
  }

  /// Calls `body` with the state, which no thread changes until `body` returns.
  @inline(__always) func read<Result>(_ body: (borrowing State) -> sending Result) -> sending Result {
    let gate = unsafe gateOfReader()
    return unsafe gate.pointee.lock.withLock { _ in
      unsafe gate.pointee.isRead.store(true, ordering: .relaxed)
      defer { unsafe gate.pointee.isRead.store(false, ordering: .relaxed) }
      return unsafe body(state.pointee)
    }
  }

  /// Calls `body` with exclusive access to the state.
  @inline(__always) func change<Result: ~Copyable>(_ body: (inout State) -> sending Result) -> sending Result {
    unsafe first.pointee.lock.withLock { _ in
      unsafe Self.holding(stripes.load(ordering: .relaxed), from: 0) { unsafe body(&state.pointee) }
    }
  }

  /// Calls `body` while holding the stripes, if there are any, whose index isn't less than `index`.
  @inline(never) private static func holding<Result: ~Copyable>(
    _ stripes: UnsafeMutablePointer<Stripe>?, from index: Int, _ body: () -> sending Result
  ) -> sending Result {
    guard let stripes = unsafe stripes, index < count else { return body() }
    return unsafe stripes[index].gate.lock.withLock { _ in unsafe holding(stripes, from: index + 1, body) }
  }

  /// Returns the lock that the calling thread has to hold to read the state.
  @inline(__always) private func gateOfReader() -> UnsafePointer<Gate> {
    if let stripes = unsafe stripes.load(ordering: .acquiring) {
      return unsafe Self.gate(at: stripes + CurrentThread.current.number & (Self.count - 1))
    }
    if unsafe first.pointee.isRead.load(ordering: .relaxed) { addStripes() }
    return unsafe UnsafePointer(first)
  }

  /// Returns the address of the gate that is the first field of a value.
  @inline(__always) private static func gate(at address: UnsafeMutableRawPointer) -> UnsafePointer<Gate> {
    unsafe UnsafePointer(address.assumingMemoryBound(to: Gate.self))
  }

  /// Adds the stripes, unless another thread has already added them.
  @inline(never) private func addStripes() {
    unsafe first.pointee.lock.withLock { _ in
      guard unsafe stripes.load(ordering: .relaxed) == nil else { return }
      let added = UnsafeMutablePointer<Stripe>.allocate(capacity: Self.count)
      for index in 0..<Self.count { unsafe (added + index).initialize(to: Stripe()) }
      unsafe stripes.store(added, ordering: .releasing)
    }
  }
}

// `@unchecked Sendable`: the locks guard the state, as described above.
extension StripedLock: @unchecked Sendable where State: ~Copyable {}
