internal import PreferenceStorage
internal import SpellRegistry
public import Support

/// Copies of one value, each under a lock of its own, for threads that read at the same time.
///
/// Each thread reads the copy at its `index`. A single copy would make two threads that read without a pause slower than
/// one thread alone, because the cache line with the lock would move from processor to processor.
///
/// `@unchecked Sendable`: the address `first` never changes, and the lock in each copy guards the copy's value.
@usableFromInline final class PreferenceCopies<Value: Sendable>: @unchecked Sendable {
  /// A value and its version; nil and 0 if there is no value yet.
  @usableFromInline typealias Versioned = (value: Value?, version: UInt64)

  @usableFromInline let first: UnsafeMutableRawPointer
  /// The distance between the copies, which keeps them in different cache lines.
  @usableFromInline let distance: Int
  private let forkCount = Fork.count

  init() {
    distance = (MemoryLayout<Lock<Versioned>>.size + cacheLine - 1) / cacheLine * cacheLine
    first = .allocate(byteCount: threadCopyCount * distance, alignment: cacheLine)
    for index in 0..<threadCopyCount {
      (first + index * distance).bindMemory(to: Lock<Versioned>.self, capacity: 1).initialize(to: Lock((nil, 0)))
    }
  }

  deinit {
    for index in 0..<threadCopyCount { copy(at: index).deinitialize(count: 1) }
    first.deallocate()
  }

  /// The index of the copy that the calling thread uses; nil in a forked child, in which the parent's store has no values.
  ///
  /// Threads that start one after another have successive numbers, and therefore different indices.
  @usableFromInline var index: Int? {
    Fork.count == forkCount ? currentThreadNumber & (threadCopyCount - 1) : nil
  }

  @inlinable func copy(at index: Int) -> UnsafeMutablePointer<Lock<Versioned>> {
    (first + index &* distance).assumingMemoryBound(to: Lock<Versioned>.self)
  }

  /// Calls `body` with the value in the calling thread's copy, and returns the result.
  ///
  /// Returns nil without calling `body` if the copy has no value of this version. The copy's lock is held while `body`
  /// runs.
  @inlinable func withValue<Result: Sendable>(of version: UInt64, _ body: (Value) -> Result?) -> Result? {
    guard let index else { return nil }
    return copy(at: index).pointee.withLock { $0.version == version ? $0.value.flatMap(body) : nil }
  }

  /// Stores a value in the calling thread's copy.
  func keep(_ value: Value, of version: UInt64) {
    guard let index else { return }
    var former: Versioned = (value, version)
    copy(at: index).pointee.withLock { swap(&$0, &former) }
    // The former value is released after the unlock, because its deinitializer may read the preference.
    withExtendedLifetime(former) {}
  }

  /// Stores a value in all copies that have an older one, and returns the value that they have.
  ///
  /// If threads store different values of one version, all of them get the value that came first.
  func keepInAll(_ value: Value, of version: UInt64) -> Value {
    var kept = value
    for index in 0..<threadCopyCount {
      var former: Versioned = (kept, version)
      copy(at: index).pointee.withLock { copy in
        if copy.version < version { swap(&copy, &former) }
        if copy.version == version, let value = copy.value { kept = value }
      }
      withExtendedLifetime(former) {}
    }
    return kept
  }
}

/// The number of copies, a power of two.
private let threadCopyCount = 4
/// The size of a cache line, or of two where a processor loads them in pairs.
private let cacheLine = 128
