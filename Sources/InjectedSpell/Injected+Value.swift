internal import SpellRegistry

extension Injected {
  /// The value of a plain constant; the same as ``wrappedValue``.
  @inlinable public var value: Value { wrappedValue }

  /// A read that finds no value that is current; never inlined, so that it costs the other reads nothing.
  @inline(never) @usableFromInline func makeValue(in container: AnyObject?) -> Value {
    do throws(InjectionError) { return try resolve(in: container) } catch {
      error.stop(at: storage.declaration.place)
    }
  }

  func resolve(in container: AnyObject?) throws(InjectionError) -> Value {
    if case .once = policy { return try storage.makeValue(in: container, followsReinjection: true) }
    return try resolveEachTime(in: container)
  }

  /// Asks the registry at this read, where there is no value that was assigned or is still alive.
  private func resolveEachTime(in container: AnyObject?) throws(InjectionError) -> Value {
    switch policy {
    case .once, .everyRead:
      if let assigned = storage.value { return assigned }
      return try storage.makeUnstoredValue(in: container)
    case .weak(let weakValue):
      if let value: Value = weakValue.value() { return value }
      weakValue.hold(try storage.makeUnstoredValue(in: container))
      // What the registry made for this property alone is gone by now.
      return weakValue.value() ?? weakValue.nothing()
    }
  }

  /// Puts a value in place of the one there is, in the storage that the container's property has.
  @usableFromInline func assign(_ value: Value, in container: AnyObject?, exclusively: Bool) {
    if case .weak(let weakValue) = policy { return weakValue.hold(value) }
    do throws(InjectionError) { try storage.assign(value, in: container, exclusively: exclusively) } catch {
      error.stop(at: storage.declaration.place)
    }
  }

  /// Puts a value in storage that no copy of the struct shares.
  @usableFromInline mutating func assignApart(_ value: Value) {
    if !storage.isUniquelyReferenced() {
      let policy: Policy = if case .weak = policy { .weak(WeakValue()) } else { policy }
      self = Injected(storage.declaration, policy)
    }
    assign(value, in: nil, exclusively: true)
  }
}
