internal import SpellRegistry

extension Final {
  /// The value of a plain constant; the same as ``wrappedValue``, for reading.
  @inlinable public var value: Value { wrappedValue }

  /// A read before the first assignment; never inlined, so that it costs the other reads nothing.
  @inline(never) @usableFromInline func makeValue(in container: AnyObject?) -> Value {
    do throws(InjectionError) { return try storage.makeValue(in: container) } catch {
      if error.code != .notRegistered { error.stop(at: storage.declaration.place) }
      trap(
        """
        \(name(in: container)), of type \(TypeName.of(Value.self)), was read before it was assigned, and no initializer is \
        registered for it. Assign it first, or read $property.value, which is nil until then.
        """, at: storage.declaration.place)
    }
  }

  /// Assigns, or stops the program where there is a value already.
  @usableFromInline func assign(_ value: Value, in container: AnyObject?) {
    do throws(FinalError) { try tryAssigning(value, in: container) } catch {
      trap(error.description, at: storage.declaration.place)
    }
  }

  func tryAssigning(_ value: Value, in container: AnyObject?) throws(FinalError) {
    let isAssigned: Bool
    do throws(InjectionError) { isAssigned = try storage.assignIfVacant(value) } catch {
      throw FinalError(.beingMade, property: name(in: container), of: Value.self)
    }
    if !isAssigned { throw FinalError(.alreadyAssigned, property: name(in: container), of: Value.self) }
  }

  /// Assigns a struct's property in storage that no copy shares.
  @usableFromInline mutating func assignApart(_ value: Value) {
    if !storage.hasValue && !storage.isUniquelyReferenced() { storage = PropertyStorage(storage.declaration) }
    assign(value, in: nil)
  }

  /// `Container.property` as far as it is known.
  private func name(in container: AnyObject?) -> String {
    storage.point(in: container).step(Value.self).property
      ?? "The @Final property declared at \(storage.identity.place)"
  }
}
