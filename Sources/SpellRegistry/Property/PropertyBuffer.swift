internal import Support

/// One allocation for one property: an object with the property's slot behind it.
///
/// It isn't generic, and empties its slot by a function that its maker hands over. So neither making nor freeing one
/// looks for a generic type at run time, which would cost more than the allocation (benchmark: "make and drop").
@usableFromInline final class PropertyBuffer: ManagedBuffer<PropertyBuffer.Header, PropertyBuffer.Unit> {
  @frozen @usableFromInline struct Header {
    @usableFromInline let slot: UnsafeMutableRawPointer
    @usableFromInline let deinitialize: (UnsafeMutableRawPointer) -> Void

    @inlinable init(slot: UnsafeMutableRawPointer, deinitialize: @escaping (UnsafeMutableRawPointer) -> Void) {
      self.slot = slot
      self.deinitialize = deinitialize
    }
  }

  /// What a buffer is to code that knows nothing of its value.
  @usableFromInline typealias Erased = ManagedBuffer<Header, Unit>

  /// What memory is counted in; a coarser alignment than `malloc` gives would cost an aligned allocation.
  @usableFromInline typealias Unit = UInt64

  // By pointer, as no one else has access any more; the language's own check costs more than the rest.
  deinit { withUnsafeMutablePointerToHeader { $0.pointee.deinitialize($0.pointee.slot) } }

  /// Memory for one value, not yet initialized.
  ///
  /// - Parameter deinitialize: Called with the slot's address when the buffer goes.
  @inlinable static func allocate(
    size: Int, alignment: Int, deinitialize: @escaping (UnsafeMutableRawPointer) -> Void
  ) -> Erased {
    // A slot whose alignment is over a unit's finds it somewhere in this many more bytes.
    let slack = alignment > MemoryLayout<Unit>.alignment ? alignment : 0
    let units = (size + slack + MemoryLayout<Unit>.size - 1) / MemoryLayout<Unit>.size
    return PropertyBuffer.create(minimumCapacity: units) { buffer in
      let start = buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
      return Header(slot: start.alignedUp(toMultipleOf: alignment), deinitialize: deinitialize)
    }
  }

  // MARK: Buffers that other buffers hold, by address

  /// Held by a thread that links one property's storage to another's.
  static let linking = Lock(())

  /// The address of a buffer, as links have it.
  ///
  /// `@unchecked Sendable`: it goes from a lock's body to the code behind it, on one thread.
  @frozen @usableFromInline struct Address: @unchecked Sendable {
    @usableFromInline let raw: UnsafeMutableRawPointer

    @inlinable init(raw: UnsafeMutableRawPointer) { self.raw = raw }

    init(retaining buffer: Erased) { raw = Unmanaged.passRetained(buffer).toOpaque() }

    var buffer: Erased { Unmanaged<Erased>.fromOpaque(raw).takeUnretainedValue() }

    @usableFromInline func release() { Unmanaged<Erased>.fromOpaque(raw).release() }
  }

  /// The slot of a buffer that stays alive.
  @inlinable static func slot(at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    Unmanaged<Erased>.fromOpaque(address)._withUnsafeGuaranteedRef {
      $0.withUnsafeMutablePointerToHeader { $0.pointee.slot }
    }
  }
}
