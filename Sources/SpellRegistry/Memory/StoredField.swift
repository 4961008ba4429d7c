/// The name, type and offset of a class's stored property, as the Swift runtime reports them.
///
/// `Mirror` uses the same functions of the runtime, but it copies every property's value. A property may be isolated to
/// another actor, so this type copies a value only in `value(in:)`. A search with `contains(_:or:in:)` copies no value.
struct StoredField: Sendable {
  /// The property's label, such as `_clock` for the storage of a wrapped property `clock`.
  let label: String
  private let erased: ErasedType
  /// The distance from the beginning of the object, in bytes.
  private let offset: Int

  var type: any Any.Type { erased.type }

  /// Returns the stored properties of an object without reading their values.
  ///
  /// Properties of superclasses come first. Weak and unowned properties are left out.
  static func all(of object: AnyObject) -> [StoredField] {
    let type = normalizedType(object, type: Swift.type(of: object))
    return (0..<count(type)).compactMap { index in
      var metadata = unsafe Metadata()
      let fieldType = unsafe child(type, index: index, metadata: &metadata)
      defer { unsafe metadata.free?(metadata.label) }
      guard let label = unsafe metadata.label, unsafe metadata.isStrong else { return nil }
      return unsafe StoredField(
        label: String(cString: label), erased: ErasedType(fieldType), offset: childOffset(type, index: index))
    }
  }

  private func memory(in object: AnyObject) -> ValueMemory {
    unsafe ValueMemory(Unmanaged.passUnretained(object).toOpaque() + offset)
  }

  /// Returns a copy of the property's value.
  ///
  /// - Precondition: This field is a property of the object's class, and no other thread is changing the property.
  func value(in object: AnyObject) -> Any { withExtendedLifetime(object) { memory(in: object).any(type) } }

  /// Returns whether any aligned word of the property's memory is equal to `first` or `second`.
  ///
  /// A caller passes the address of an object, for example. The words are loaded atomically, because another thread may
  /// be changing the property. For a type with a smaller alignment than a word, the result is false.
  func contains(_ first: UInt, or second: UInt?, in object: AnyObject) -> Bool {
    func layout<Value>(_: Value.Type) -> (size: Int, alignment: Int) {
      (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
    }
    let (layout, word) = (_openExistential(type, do: layout), MemoryLayout<UInt>.size)
    guard layout.alignment >= word else { return false }
    return withExtendedLifetime(object) {
      (0..<layout.size / word).contains { index in
        let found = memory(in: object).word(at: index)
        return found == first || found == second
      }
    }
  }
}

// MARK: The Swift runtime's functions, declared as in the standard library

/// The facts that the runtime reports about one property.
@unsafe private struct Metadata {
  var label: UnsafePointer<CChar>?
  var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
  /// Whether the property is neither weak nor unowned.
  var isStrong = false
  var isVariable = false
}

/// Returns the class of an object, ignoring a subclass that the Objective-C runtime made, as for key-value observing.
@_silgen_name("swift_reflectionMirror_normalizedType")
private func normalizedType<Value>(_: Value, type: any Any.Type) -> any Any.Type

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func count(_: any Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func child(_: any Any.Type, index: Int, metadata: UnsafeMutablePointer<Metadata>) -> any Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func childOffset(_: any Any.Type, index: Int) -> Int
