public import Observation
public import Synchronization

/// The state of one key of a store, as its readers follow it: a version to compare, and an object to observe.
///
/// A store makes one for each key that a property reads, and has it for as long as a property does. What the store does when
/// a value changes is ``PreferenceHub/tell(_:)``.
///
/// The version grows after a new value can be read. A reader that keeps a value loads the version first, then reads the value,
/// and keeps both: while the version is the same, the value is too.
public final class PreferenceSignal: Observable, Sendable {
  @usableFromInline let counter = Atomic<UInt64>(1)
  private let registrar = ObservationRegistrar()
  /// The version of which a mismatch was reported.
  private let reportedVersion = Atomic<UInt64>(0)
  /// What the registrar knows the value by.
  ///
  /// Kept here, since a key path that is written in place is retained by each read.
  private let path: any KeyPath<PreferenceSignal, Void> & Sendable = \PreferenceSignal.value
  private let onEnd: @Sendable () -> Void

  /// Creates the signal of a key.
  ///
  /// - Parameter onEnd: Called when the last reader is gone.
  init(onEnd: @escaping @Sendable () -> Void = {}) { self.onEnd = onEnd }

  deinit { onEnd() }

  /// What observers track; the value itself is the store's.
  private var value: Void { () }

  /// The version: never 0, so that 0 can stand for "nothing kept yet".
  @usableFromInline package var version: UInt64 {
    @inlinable get { counter.load(ordering: .acquiring) }
  }

  /// Notes that the running observation, if there is one, reads the value.
  @usableFromInline package func track() { registrar.access(self, keyPath: path) }

  /// Outdates what readers keep, and notifies observers.
  ///
  /// Called after the new value can be read, with no lock held. An observer runs on the calling thread and reads the new value.
  func send() {
    counter.add(1, ordering: .releasing)
    registrar.willSet(self, keyPath: path)
    registrar.didSet(self, keyPath: path)
  }

  /// Whether no mismatch was reported for this version yet; true once for each version.
  package func mayReport(_ version: UInt64) -> Bool {
    reportedVersion.exchange(version, ordering: .relaxed) != version
  }
}
