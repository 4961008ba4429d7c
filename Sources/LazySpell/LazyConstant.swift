public import SpellRegistry

/// A constant whose value is made when it is first read, once, whichever thread reads it.
///
/// For a class that is checked `Sendable`, and for statics, which can't have wrapped properties:
///
/// ```swift
/// final class Service: Sendable {
///   let cache = LazyConstant { ImageCache() }
///   func image() -> Image { cache.value.first }
/// }
/// ```
///
/// *When*: declaring it costs one allocation. The first read makes the value; each read after it costs one atomic load.
/// After a ``reset()`` a read costs up to five times that.
///
/// *Threads*: any number may read and reset at once; one makes the value, with no lock held, and the others wait for it.
///
/// *Traps*: a closure that reads its own constant, directly or through others, stops the program with the path.
@frozen public struct LazyConstant<Value> {
  @usableFromInline let storage: PropertyStorage<Value>

  /// Creates a constant.
  ///
  /// - Parameters:
  ///   - initializer: Makes the value, on the thread that reads it first, with no lock held.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, for messages.
  @inlinable public init(
    _ initializer: @escaping @Sendable () -> Value, fileID: StaticString = #fileID, line: UInt = #line,
    column: UInt = #column
  ) {
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    storage = PropertyStorage(PropertyDeclaration(place: place, expression: initializer))
  }

  /// The value.
  @inlinable public var value: Value {
    if storage.slot.isReady { return withExtendedLifetime(self) { storage.slot.unsafeValue } }
    return otherValue()
  }

  /// A read that finds no first value; never inlined, so that it costs the other reads nothing.
  @inline(never) @inlinable func otherValue() -> Value {
    if let newer = storage.slot.newerValue(inEpoch: false) { return newer }
    if storage.makeFromExpression(in: nil) { return storage.slot.unsafeValue }
    return resolveOrStop()
  }

  @usableFromInline func resolveOrStop() -> Value {
    do throws(InjectionError) { return try storage.resolve(in: nil) } catch {
      error.stop(at: storage.declaration.place)
    }
  }

  /// Whether the value has been made.
  ///
  /// Never makes it.
  public var isInitialized: Bool { storage.hasValue }

  /// Forgets the value; the next read makes another.
  ///
  /// A value that is being made goes to the thread that makes it; those that wait make the next. Other threads may be
  /// reading the old value, so the first two values are kept, unseen, for as long as the constant is.
  public func reset() { storage.forget() }
}

// A value is written by the one thread that began the storage's gate, an atomic, and read by others after they load the
// gate as ready; newer values are behind an atomic link and the readers' lock. The closure is `@Sendable`.
extension LazyConstant: @unchecked Sendable where Value: Sendable {}
