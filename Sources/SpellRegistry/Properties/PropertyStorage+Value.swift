internal import Locking
internal import Synchronization

extension PropertyStorage {
  /// Whether there is a value, wherever it lies.
  public var hasValue: Bool { CreationGate.isSettledWithValue(record.pointee.gate.word.load(ordering: .acquiring)) }

  /// The value, if there is one.
  public var value: Value? { value(at: record.pointee.gate.word.load(ordering: .acquiring)) }

  var record: UnsafeMutablePointer<PropertyRecord<Value>> { slot.record }
  /// The registry to ask.
  var registry: InitializerRegistry { slot.record.pointee.declaration.override ?? .shared }

  /// The value that a word tells of; nil where there is none, or there is none any more.
  func value(at word: UInt) -> Value? { try? settledValue(at: word) }

  /// The value that a word tells of.
  ///
  /// Throwing says that there is none with no look at the type, which an Optional would need.
  func settledValue(at word: UInt) throws(NoValue) -> Value {
    switch word & CreationGate.tags {
    case CreationGate.ready: return slot.place.pointee
    case CreationGate.readyElsewhere:
      return try CreationThread.current.pointee.reading.withLock { _ throws(NoValue) in
        guard let value = record.pointee.elsewhere.current else { throw NoValue() }
        return value.assumingMemoryBound(to: Value.self).pointee
      }
    default: throw NoValue()
    }
  }

  /// Puts a value in place of whatever there is.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - container: The object that holds the property, if one does; for the error.
  ///   - exclusively: Whether no other thread can be reading: true for an assignment to a property, which the language
  ///     makes exclusive.
  /// - Throws: `.cycle` where this thread is making the property's value, so that waiting for it would be for ever.
  public func assign(
    _ value: Value, in container: AnyObject? = nil, exclusively: Bool
  ) throws(InjectionError) {
    try change(to: value, in: container, exclusively: exclusively, byHand: true)
  }

  /// Puts a value where there is none; says whether it did.
  ///
  /// Of any number of threads that try, one does.
  public func assignIfVacant(_ value: Value) throws(InjectionError) -> Bool {
    try assignIfVacant(value, byHand: true)
  }

  func assignIfVacant(_ value: Value, byHand: Bool) throws(InjectionError) -> Bool {
    try CreationFrame.push(Value.self, asked: CreationFrame.Asked()) { frame throws(InjectionError) in
      while true {
        let word = try settledWord(in: nil, as: frame)
        if word != CreationGate.vacant { return false }
        if record.pointee.gate.enter(from: word, as: frame) {
          record.pointee.isByHand.store(byHand, ordering: .relaxed)
          store(value, of: latestGeneration, exclusively: false, as: frame)
          return true
        }
      }
    }
  }

  /// Forgets the value, so that the next read makes another.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does; for the error.
  ///   - exclusively: Whether no other thread can be reading; if not, the value is kept, unseen, until the property
  ///     goes.
  /// - Throws: `.cycle` where this thread is making the property's value, so that waiting for it would be for ever.
  public func reset(in container: AnyObject? = nil, exclusively: Bool) throws(InjectionError) {
    try change(to: nil, in: container, exclusively: exclusively, byHand: false)
  }

  func change(
    to value: Value?, in container: AnyObject?, exclusively: Bool, byHand: Bool
  ) throws(InjectionError) {
    try CreationFrame.push(Value.self, asked: CreationFrame.Asked()) { frame throws(InjectionError) in
      while !record.pointee.gate.enter(from: try settledWord(in: container, as: frame), as: frame) {}
      record.pointee.isByHand.store(byHand, ordering: .relaxed)
      if let value {
        store(value, of: latestGeneration, exclusively: exclusively, as: frame)
      } else {
        clear(exclusively: exclusively, as: frame)
      }
    }
  }

  /// The word, once nobody is making the value.
  func settledWord(
    in container: AnyObject?, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> UInt {
    while true {
      let word = record.pointee.gate.word.load(ordering: .acquiring)
      guard CreationGate.isBusy(word) else { return word }
      do throws(InjectionError) { try record.pointee.gate.wait(while: word, as: frame) } catch {
        throw error.located(at: point(in: container))
      }
    }
  }

  /// Writes a value and leaves the gate; what was there is released after that.
  func store(
    _ value: Value, of generation: UInt, exclusively: Bool, as frame: UnsafeMutablePointer<CreationFrame>
  ) {
    if !record.pointee.hasValueInPlace {
      slot.place.initialize(to: value)
      record.pointee.hasValueInPlace = true
      record.pointee.gate.settle(frame, as: generation | CreationGate.ready)
    } else if exclusively {
      let old = slot.place.move()
      let elsewhere = record.pointee.elsewhere.withdraw()
      slot.place.initialize(to: value)
      record.pointee.gate.settle(frame, as: generation | CreationGate.ready)
      elsewhere.map(PropertyRecord<Value>.free)
      withExtendedLifetime(old) {}
    } else {
      let new = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      new.initialize(to: value)
      let old = record.pointee.elsewhere.exchange(for: new)
      record.pointee.gate.settle(frame, as: generation | CreationGate.readyElsewhere)
      old.map(PropertyRecord<Value>.free)
    }
  }

  /// Forgets the value and leaves the gate; what was there is released after that, but for what may be being read.
  private func clear(exclusively: Bool, as frame: UnsafeMutablePointer<CreationFrame>) {
    var inPlace: Value?
    if exclusively && record.pointee.hasValueInPlace {
      inPlace = slot.place.move()
      record.pointee.hasValueInPlace = false
    }
    let elsewhere = record.pointee.elsewhere.withdraw()
    record.pointee.gate.settle(frame, as: CreationGate.vacant)
    elsewhere.map(PropertyRecord<Value>.free)
    withExtendedLifetime(inPlace) {}
  }
}
