/// A stored property of a class, as the runtime describes it: its name, its type, and its place in the object.
///
/// `Mirror` uses the same functions of the runtime, but copies the value of every property. A property may belong to
/// another actor, so this type reads only the property that is asked for, and a search for a property copies nothing.
struct StoredField: Sendable {
  /// The property's label, such as `_clock` for the storage of a wrapped property `clock`.
  let label: String
  private let erased: ErasedType
  /// The distance from the beginning of the object, in bytes.
  private let offset: Int

  var type: any Any.Type { erased.type }

  /// Returns the stored properties of an object, those of superclasses first; reads none of them.
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
  /// - Precondition: The object is of the class from which this field comes, and the caller may read the property.
  func value(in object: AnyObject) -> Any { withExtendedLifetime(object) { memory(in: object).any(type) } }

  /// Returns whether the property's memory contains one of two words, such as the address of an object.
  ///
  /// The words are loaded atomically, because the caller may search through properties that another thread is changing.
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

// MARK: The runtime's functions, with the declarations of the standard library

/// The content that the runtime fills in for one property.
@unsafe private struct Metadata {
  var label: UnsafePointer<CChar>?
  var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
  /// Whether the property is neither weak nor unowned.
  var isStrong = false
  var isVariable = false
}

/// Returns the class of an object, without a subclass that Objective-C's runtime has made for it alone.
@_silgen_name("swift_reflectionMirror_normalizedType")
private func normalizedType<Value>(_: Value, type: any Any.Type) -> any Any.Type

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func count(_: any Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func child(_: any Any.Type, index: Int, metadata: UnsafeMutablePointer<Metadata>) -> any Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func childOffset(_: any Any.Type, index: Int) -> Int
