public import SpellRegistry

/// A constant whose value is created when it is first read, once, on whichever thread.
///
/// Use it in a class that is checked `Sendable` and as a static, where the language allows no wrapped property:
///
/// ```swift
/// final class Service: Sendable {
///   let cache = LazyConstant { ImageCache() }
///   func image() -> Image { cache.value.first }
/// }
/// ```
///
/// *When*: Declaring it takes one allocation. The first read creates the value. Each later read takes one atomic load,
/// and after a ``reset()`` a lock.
///
/// *Threads*: Any number of threads may read and reset at once. One of them creates the value, with no lock held, and
/// the others wait for it.
///
/// *Traps*: A closure that reads its own constant, directly or through others, stops the program with the path.
@frozen public struct LazyConstant<Value> {
  @usableFromInline let storage: PropertyStorage<Value>
  @usableFromInline let initializer: @Sendable () -> Value

  /// Creates a constant.
  ///
  /// - Parameters:
  ///   - initializer: Creates the value, on the thread that reads it first, with no lock held.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, for messages.
  @inlinable public init(
    _ initializer: @escaping @Sendable () -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    storage = PropertyStorage(at: place)
    self.initializer = initializer
  }

  /// The value.
  @inlinable public var value: Value {
    if storage.memory.isReady { return withExtendedLifetime(self) { storage.memory.read() } }
    return otherValue()
  }

  /// Finds or creates the value if the first one isn't there; never inlined, so that other reads don't pay for it.
  @inline(never) @inlinable func otherValue() -> Value {
    do throws(InjectionError) { return try storage.makeValue(in: nil, expression: initializer) } catch {
      error.stop(at: storage.place)
    }
  }

  /// Whether the value has been created; doesn't create it.
  public var isInitialized: Bool { storage.hasValue }

  /// Drops the value, so that the next read creates another one.
  ///
  /// The thread that is creating a value gets it, and the threads that wait create the next one.
  /// Other threads may be reading the old value, so the first value stays in memory as long as the constant does.
  public func reset() { storage.forget() }
}

// `@unchecked Sendable`: the atomic `gate` of the storage guards the first value, which the one thread that begins the gate
// writes, and others read after they load the gate as ready. Its lock `newer` guards newer ones. The closure is `@Sendable`.
extension LazyConstant: @unchecked Sendable where Value: Sendable {}

extension LazyConstant: CustomStringConvertible {
  /// The value, if there is one, and where the constant is declared.
  public var description: String { storage.description(of: "LazyConstant") }
}
