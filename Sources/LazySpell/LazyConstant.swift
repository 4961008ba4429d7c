public import SpellRegistry

/// A constant whose value is created only once, when any thread first reads it.
///
/// Use it for a static constant, and in a class with a checked `Sendable` conformance, which can't have wrapped
/// properties:
///
/// ```swift
/// final class Service: Sendable {
///   let cache = LazyConstant { ImageCache() }
///   func image() -> Image { cache.value.first }
/// }
/// ```
///
/// *Cost*: Declaring the constant takes one allocation. The first read creates the value. Each later read takes one
/// atomic load or, after a ``reset()``, a lock.
///
/// *Threads*: Any number of threads may read and reset at once. One of them creates the value, with no lock held, and
/// the others wait for the value.
///
/// *Traps*: A closure that reads its own constant, directly or indirectly, stops the program. The message has the
/// chain of reads.
@frozen public struct LazyConstant<Value> {
  @usableFromInline let storage: PropertyStorage<Value>
  @usableFromInline let initializer: @Sendable () -> Value

  /// Creates a constant with a closure that creates the value at the first read.
  ///
  /// - Parameters:
  ///   - initializer: Creates the value, on the thread that reads it first, with no lock held.
  ///   - fileID: The file of the declaration, for messages.
  ///   - line: The line of the declaration, for messages.
  ///   - column: The column of the declaration, for messages.
  @inlinable public init(
    _ initializer: @escaping @Sendable () -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    (storage, self.initializer) = (PropertyStorage(at: place), initializer)
  }

  /// The value, which the first read creates.
  @inlinable public var value: Value {
    if storage.memory.isReady { return withExtendedLifetime(self) { storage.memory.read() } }
    return otherValue()
  }

  /// The slow path of a read, which creates the value, waits for it, or finds a value that was created after a reset.
  ///
  /// Never inlined, because the common read of a stored value has to stay small.
  @inline(never) @inlinable func otherValue() -> Value {
    do throws(InjectionError) { return try storage.makeValue(in: nil, expression: { _, _ in initializer() }) } catch {
      error.stop(at: storage.place, canResolve: false)
    }
  }

  /// Whether the value has been created; reading `hasValue` doesn't create it.
  public var hasValue: Bool { storage.hasValue }

  /// Drops the value, so that the next read creates a new value.
  ///
  /// A thread that is already creating a value still gets that value. Threads that wait for that thread get the next
  /// value instead.
  ///
  /// The constant's first value stays in memory as long as the constant does, because other threads may be reading it.
  public func reset() { storage.forget() }
}

// `@unchecked Sendable`: the atomic `state` of a `CreationGate` guards the first value, and the lock `later` in
// `PropertyFields` guards later ones. The closure is `@Sendable`.
extension LazyConstant: @unchecked Sendable where Value: Sendable {}

extension LazyConstant: CustomStringConvertible {
  /// A text with the value, if there is one, and the file and line of the declaration.
  public var description: String { storage.description(of: "LazyConstant") }
}
