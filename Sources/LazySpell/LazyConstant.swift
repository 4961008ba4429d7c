public import SpellRegistry

/// A constant whose value is created only once, when any thread first reads it.
///
/// Use it as a static, and in a class with a checked `Sendable` conformance, where wrapped properties aren't allowed:
///
/// ```swift
/// final class Service: Sendable {
///   let cache = LazyConstant { ImageCache() }
///   func image() -> Image { cache.value.first }
/// }
/// ```
///
/// *When*: Declaring the constant takes one allocation. The first read creates the value. Each later read takes one
/// atomic load or, after a ``reset()``, a lock.
///
/// *Threads*: Any number of threads may read and reset at once. One of them creates the value, with no lock held, and
/// the others wait for it.
///
/// *Traps*: A closure that reads its own constant, directly or indirectly, stops the program. The message has the path.
@frozen public struct LazyConstant<Value> {
  @usableFromInline let storage: PropertyStorage<Value>
  @usableFromInline let initializer: @Sendable () -> Value

  /// Creates a constant.
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

  /// Finds or creates the value if the first cell has none; never inlined, so that other reads don't pay for it.
  @inline(never) @inlinable func otherValue() -> Value {
    do throws(InjectionError) { return try storage.makeValue(in: nil, expression: initializer) } catch {
      error.stop(at: storage.place, canResolve: false)
    }
  }

  /// Whether the value has been created; reading this doesn't create it.
  public var hasValue: Bool { storage.hasValue }

  /// Drops the value, so that the next read creates another one.
  ///
  /// A thread that is already creating a value still gets that value, and the threads that wait get the next one. Other
  /// threads may be reading the old value, so the first value stays in memory as long as the constant does.
  public func reset() { storage.forget() }
}

// `@unchecked Sendable`: the storage's atomic `gate` guards the first value, its lock `newer` guards later values, and
// the closure is `@Sendable`.
extension LazyConstant: @unchecked Sendable where Value: Sendable {}

extension LazyConstant: CustomStringConvertible {
  /// The value, if there is one, and the place of the declaration.
  public var description: String { storage.description(of: "LazyConstant") }
}
