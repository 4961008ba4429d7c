public import Synchronization

/// A number that grows whenever a value of a store may have changed, so that a decoded value can be kept and compared.
///
/// It is counted up, releasing, after the new values can be read. Whoever keeps a value loads the number first,
/// acquiring, then reads the value, and keeps both: while the number is the same the value is, too.
@usableFromInline
package final class PreferenceVersion: Sendable {
  @usableFromInline let counter = Atomic<UInt64>(1)

  package init() {}

  /// The number, at the cost of one atomic load.
  ///
  /// Never 0, so 0 can stand for "nothing kept yet".
  @inlinable package var current: UInt64 { counter.load(ordering: .acquiring) }

  package func increment() { counter.add(1, ordering: .releasing) }
}
