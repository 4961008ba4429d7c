internal import Locking
internal import Synchronization

/// Counts the re-injections of a registry and all registries below it.
///
/// Every `@Injected` property compares its word with the current one at each read, so a re-injection reaches each that
/// lives with no list of them, at the price of one more load.
///
/// `@unchecked Sendable`: the pointer never changes, and points at an atomic.
final class Generations: @unchecked Sendable {
  /// The word of a value that is ready and of the latest generation.
  let current: UnsafePointer<Atomic<UInt>>
  private let word = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: 1)
  /// The generation in which a type was last re-injected.
  private let reinjected = Lock<[ObjectIdentifier: UInt]>([:])

  init() {
    word.initialize(to: Atomic(CreationGate.ready))
    current = UnsafePointer(word)
  }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  /// Begins a generation in which values of this type are outdated.
  func reinject(_ type: any Any.Type) {
    reinjected.withLock { reinjected in
      let next = word.pointee.add(CreationGate.generationStep, ordering: .releasing).newValue
      reinjected[ObjectIdentifier(type)] = next & ~CreationGate.tags
    }
  }

  /// Whether a value of one of these types that was made in `generation` is outdated.
  func isOutdated(_ generation: UInt, of types: [any Any.Type]) -> Bool {
    reinjected.withLock { reinjected in
      types.contains { type in reinjected[ObjectIdentifier(type)].map { $0 > generation } ?? false }
    }
  }
}
