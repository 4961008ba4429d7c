public import SpellRegistry

extension Lazy {
  /// The value of a plain constant; the same as ``wrappedValue``.
  @inlinable public var value: Value { wrappedValue }

  /// The first read; never inlined, so that it costs the later ones nothing.
  @inline(never) @inlinable func makeValue(in container: AnyObject?) -> Value {
    if storage.makeAlone(in: container) { return storage.slot.readyValue }
    return resolveOrStop(in: container)
  }

  @usableFromInline func resolveOrStop(in container: AnyObject?) -> Value {
    do throws(InjectionError) { return try resolve(in: container) } catch {
      error.stop(at: storage.declaration.place)
    }
  }

  func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    try storage.makeValue(in: container) { _ in
      guard let type = Value.self as? any DefaultInitializable.Type else { return nil }
      return type.init() as? Value
    }
  }

  /// Puts a value in place of the one there is, in the storage that the container's property has.
  @usableFromInline func assign(_ value: Value, in container: AnyObject?, exclusively: Bool) {
    do throws(InjectionError) { try storage.assign(value, in: container, exclusively: exclusively) } catch {
      error.stop(at: storage.declaration.place)
    }
  }

  /// Puts a value in storage that no copy of the struct shares.
  @usableFromInline mutating func assignApart(_ value: Value) {
    if !storage.isUniquelyReferenced() { storage = PropertyStorage(storage.declaration) }
    assign(value, in: nil, exclusively: true)
  }
}
