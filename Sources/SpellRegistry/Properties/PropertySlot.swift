public import Locking
public import Synchronization

/// Where a wrapped property's value lies: a word that says how far it is, and room for the value beside it.
///
/// The place beside the word is written before the word says "ready", and read only after: that is why a read needs no
/// lock. While it is ready, only a write that is exclusive by the language's own rule (an assignment to the property,
/// `$x.reset()`, from the container's isolation) changes it. Changes that may come from elsewhere, such as
/// re-injection or resetting a constant that threads share, leave it as it is and put the new value behind a lock,
/// since a reader may be half-way through copying the old one; the old one is then kept until the property goes.
public struct PropertySlot<Value>: ~Copyable {
  @usableFromInline let gate: CreationGate
  /// The word that a current value has; see ``InitializerRegistry/reinject(_:)``.
  @usableFromInline let current: UnsafePointer<Atomic<UInt>>
  @usableFromInline var inline: Value?
  /// Whether `inline` holds a value that was replaced while it may have been read.
  @usableFromInline var isRetired: Bool
  /// Whether the value was assigned, not injected.
  ///
  /// Relaxed: written before the word is settled, read after it is seen.
  @usableFromInline let isByHand: Atomic<Bool>
  @usableFromInline let elsewhere: Lock<Elsewhere<Value>?>
  /// What the property's declaration says.
  @usableFromInline let declaration: PropertyDeclaration<Value>

  @inlinable init(_ declaration: PropertyDeclaration<Value>) {
    gate = CreationGate()
    current = declaration.registry.currentWord
    inline = nil
    isRetired = false
    isByHand = Atomic(false)
    elsewhere = Lock(nil)
    self.declaration = declaration
  }

  /// Whether the value is there and can be read with no lock.
  ///
  /// Acquiring: whoever sees it ready sees it whole.
  @inlinable public var isReady: Bool {
    gate.word.load(ordering: .acquiring) & CreationGate.tags == CreationGate.ready
  }

  /// Whether the value is there, can be read with no lock, and is of the latest re-injection.
  ///
  /// The second load is relaxed: a thread that knows of a re-injection has synchronised with it.
  @inlinable public var isCurrent: Bool {
    gate.word.load(ordering: .acquiring) == current.pointee.load(ordering: .relaxed)
  }

  /// The value.
  ///
  /// - Precondition: ``isReady`` or ``isCurrent`` was true, and the property's container is alive; not checked.
  @inlinable public var readyValue: Value { inline.unsafelyUnwrapped }
}

/// A value that is read under a lock.
///
/// `@unchecked Sendable`: the value changes threads only where the property that holds it does.
@usableFromInline final class Elsewhere<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
