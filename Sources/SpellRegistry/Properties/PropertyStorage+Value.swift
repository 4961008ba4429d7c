internal import Locking
internal import Synchronization

extension PropertyStorage {
  /// Whether there is a value, wherever it lies.
  public var hasValue: Bool {
    let word = slot.pointee.gate.word.load(ordering: .acquiring)
    return word != CreationGate.vacant && !CreationGate.isBusy(word)
  }

  /// The value, if there is one.
  public var value: Value? {
    let word = slot.pointee.gate.word.load(ordering: .acquiring)
    return CreationGate.isBusy(word) ? nil : value(at: word)
  }

  /// The value that a settled word tells of.
  func value(at word: UInt) -> Value? {
    switch word & CreationGate.tags {
    case CreationGate.ready: slot.pointee.inline
    case CreationGate.readyElsewhere: slot.pointee.elsewhere.withLock(\.self)?.value
    default: nil
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
        let word = slot.pointee.gate.word.load(ordering: .acquiring)
        if CreationGate.isBusy(word) {
          try slot.pointee.gate.wait(while: word, as: frame)
        } else if word != CreationGate.vacant {
          return false
        } else if slot.pointee.gate.enter(from: word, as: frame) {
          slot.pointee.isByHand.store(byHand, ordering: .relaxed)
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
      while true {
        let word = slot.pointee.gate.word.load(ordering: .acquiring)
        if CreationGate.isBusy(word) {
          do throws(InjectionError) { try slot.pointee.gate.wait(while: word, as: frame) } catch {
            throw error.located(at: point(in: container))
          }
        } else if slot.pointee.gate.enter(from: word, as: frame) {
          slot.pointee.isByHand.store(byHand, ordering: .relaxed)
          return store(value, of: latestGeneration, exclusively: exclusively, as: frame)
        }
      }
    }
  }

  /// Writes a value, or that there is none, and leaves the gate.
  ///
  /// What was there is released after that.
  func store(
    _ value: Value?, of generation: UInt, exclusively: Bool, as frame: UnsafeMutablePointer<CreationFrame>
  ) {
    var old: (Value?, Elsewhere<Value>?)
    if exclusively || (slot.pointee.inline == nil && !slot.pointee.isRetired) {
      old = (slot.pointee.inline, slot.pointee.elsewhere.withLock { $0.take() })
      slot.pointee.inline = value
      slot.pointee.isRetired = false
      slot.pointee.gate.settle(
        frame, as: value == nil ? CreationGate.vacant : generation | CreationGate.ready)
    } else {
      slot.pointee.isRetired = true
      let new = value.map { Elsewhere($0) }
      old = (
        nil,
        slot.pointee.elsewhere.withLock { elsewhere in
          defer { elsewhere = new }
          return elsewhere
        }
      )
      slot.pointee.gate.settle(
        frame, as: new == nil ? CreationGate.vacant : generation | CreationGate.readyElsewhere)
    }
    withExtendedLifetime(old) {}
  }
}
