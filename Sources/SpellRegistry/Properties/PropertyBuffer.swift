/// One allocation for one property: an object with the property's slot behind it.
///
/// It is not generic, and knows how to empty its slot by a function that whoever makes it hands over: so neither making
/// nor freeing one looks for a generic type at run time, which would cost more than the allocation.
@usableFromInline final class PropertyBuffer: ManagedBuffer<PropertyBuffer.Header, PropertyBuffer.Unit> {
  @frozen @usableFromInline struct Header {
    @usableFromInline let slot: UnsafeMutableRawPointer
    @usableFromInline let deinitialize: (UnsafeMutableRawPointer) -> Void

    @inlinable init(slot: UnsafeMutableRawPointer, deinitialize: @escaping (UnsafeMutableRawPointer) -> Void) {
      self.slot = slot
      self.deinitialize = deinitialize
    }
  }

  /// What memory is counted in.
  ///
  /// Of a coarser alignment than `malloc` gives, it would cost an aligned allocation.
  @usableFromInline typealias Unit = UInt64

  // By pointer, as nobody else has access any more; the check that the language makes else costs more than the rest.
  deinit { withUnsafeMutablePointerToHeader { $0.pointee.deinitialize($0.pointee.slot) } }

  /// Memory for one value, not yet initialized.
  ///
  /// - Parameter deinitialize: Called with the slot's address when the buffer goes.
  @inlinable static func allocate(
    size: Int, alignment: Int, deinitialize: @escaping (UnsafeMutableRawPointer) -> Void
  ) -> ManagedBuffer<Header, Unit> {
    // A slot whose alignment is over a unit's finds it somewhere in this many more bytes.
    let slack = alignment > MemoryLayout<Unit>.alignment ? alignment : 0
    let units = (size + slack + MemoryLayout<Unit>.size - 1) / MemoryLayout<Unit>.size
    return PropertyBuffer.create(minimumCapacity: units) { buffer in
      let start = buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
      return Header(slot: start.alignedUp(toMultipleOf: alignment), deinitialize: deinitialize)
    }
  }
}
