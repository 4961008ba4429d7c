internal import Synchronization

/// A random number generator that several threads can share.
///
/// ```swift
/// let random = RandomSource(seed: 7)
/// let number = random { Int.random(in: 1...6, using: &$0) }
/// ```
///
/// With a seed, the generator is SplitMix64: G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014, with the constants of S. Vigna's `splitmix64.c`. The same seed gives the same numbers on
/// every platform. For secrets, use ``system``.
///
/// The generator is safe to use from any thread. Each number goes to only one caller. If several threads call the
/// generator, their timing decides which number each caller gets.
public final class RandomSource: RandomNumberGenerator, Sendable {
  /// The state of SplitMix64; nil for the system's generator.
  private let state: AtomicState?

  private final class AtomicState: Sendable {
    let value: Atomic<UInt64>
    init(_ value: UInt64) { self.value = Atomic(value) }
  }

  /// The system's generator, whose numbers can't be reproduced and are suitable for cryptography.
  public static let system = RandomSource(state: nil)

  private init(state: AtomicState?) { self.state = state }

  /// Creates a generator whose sequence of numbers depends only on a seed.
  public convenience init(seed: UInt64) { self.init(state: AtomicState(seed)) }

  /// Returns the next 64 random bits.
  public func next() -> UInt64 {
    guard let state else {
      var system = SystemRandomNumberGenerator()
      return system.next()
    }
    // Relaxed order suffices, because threads share no other data through the state.
    var bits = state.value.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// Calls `body` with the generator as an `inout` argument, and returns the result of `body`.
  ///
  /// Functions such as `Int.random(in:using:)` need the generator in this form. No lock is held while `body` runs.
  public func callAsFunction<Result, Failure: Error>(
    _ body: (inout RandomSource) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var generator = self
    return try body(&generator)
  }
}
