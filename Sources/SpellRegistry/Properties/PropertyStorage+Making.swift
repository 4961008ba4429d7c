internal import Synchronization

// A read that finds no value: who makes it, in which order, and who hears of it.

extension PropertyStorage {
  /// What a property does where its registration and its expression give nothing.
  public typealias Fallback = (InjectionPoint) throws(InjectionError) -> Value?

  /// The value: made now if there is none, once, however many threads ask.
  ///
  /// What makes it is, in this order: the registration for this container; the property's own expression; any other
  /// registration; `fallback`; nil, for an Optional type, which is not kept. It runs with no lock held; the value is
  /// stored, then the hooks are called: the registration's, the property's, the container's observer, the registry's.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does.
  ///   - followsReinjection: Whether an injected value that was there before its type was last re-injected is made anew.
  ///     True for a wrapper whose reads look at the slot's `isCurrent`, false for one whose reads look at `isReady`.
  ///   - fallback: Makes a value where nothing is registered.
  /// - Throws: Why there is no value; nothing is stored then, and the next read tries again.
  public func makeValue(
    in container: AnyObject?, followsReinjection: Bool = false, fallback: Fallback = { _ in nil }
  ) throws(InjectionError) -> Value {
    let point = point(in: container)
    return try CreationFrame.push(Value.self, asked: point.asked) { frame throws(InjectionError) in
      while true {
        let word = slot.pointee.gate.word.load(ordering: .acquiring)
        if CreationGate.isBusy(word) {
          do throws(InjectionError) { try slot.pointee.gate.wait(while: word, as: frame) } catch {
            throw error.located(at: point)
          }
        } else if let value = value(at: word), !(followsReinjection && isOutdated(word)) {
          return value
        } else if slot.pointee.gate.enter(from: word, as: frame) {
          return try makeValue(at: point, replacing: word, fallback: fallback, as: frame)
        }
      }
    }
  }

  /// Makes a value for this one read, stores nothing, and calls the hooks.
  public func makeUnstoredValue(in container: AnyObject?) throws(InjectionError) -> Value {
    let point = point(in: container)
    return try CreationFrame.push(Value.self, asked: point.asked) { frame throws(InjectionError) in
      guard let provided = try provide(at: point, fallback: { _ in nil }, as: frame) else {
        return try slot.pointee.declaration.registry.nilOrThrow(at: point)
      }
      notify(provided, at: point)
      return provided.value
    }
  }

  /// Makes the value as the owner of the gate, and leaves the gate.
  private func makeValue(
    at point: InjectionPoint, replacing word: UInt, fallback: Fallback,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    let old = value(at: word)
    // Taken before the registry is asked: a re-injection in between makes the value outdated, never the reverse.
    let generation = latestGeneration
    let provided: Provided<Value>?
    do throws(InjectionError) { provided = try provide(at: point, fallback: fallback, as: frame) } catch {
      slot.pointee.gate.settle(frame, as: word)
      throw error
    }
    guard let provided else {
      slot.pointee.gate.settle(frame, as: old == nil ? word : word & CreationGate.tags | generation)
      if let old { return old }
      return try slot.pointee.declaration.registry.nilOrThrow(at: point)
    }
    store(provided.value, of: generation, exclusively: false, as: frame)
    notify(provided, at: point)
    return provided.value
  }

  private func provide(
    at point: InjectionPoint, fallback: Fallback, as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Provided<Value>? {
    let registry = slot.pointee.declaration.registry
    if let expression = slot.pointee.declaration.expression {
      let registered = try registry.provide(Value.self, at: point, reach: .containersOnly, as: frame)
      if let registered { return registered }
      try frame.beginExpression()
      return Provided(value: expression(), entry: nil)
    }
    if let registered = try registry.provide(Value.self, at: point, as: frame) { return registered }
    return try fallback(point).map { Provided(value: $0, entry: nil) }
  }

  /// Calls each hook that wants to hear of this injection, once, with no lock held.
  private func notify(_ provided: Provided<Value>, at point: InjectionPoint) {
    provided.entry?.notify(provided.value, at: point)
    if let container = point.container { slot.pointee.declaration.hook?(container, provided.value) }
    slot.pointee.declaration.registry.announce(provided.value, at: point)
  }
}

extension InjectionError {
  /// The same error, whose first step is the property at `point`.
  func located(at point: InjectionPoint) -> InjectionError {
    locating { step in
      let known = point.step(point.propertyType)
      return step.typeName == known.typeName ? known : step
    }
  }
}

extension PropertyStorage {
  /// Stores a value that was made, where there is none by then, and returns what calls the hooks.
  package typealias Store = () throws(InjectionError) -> () -> Void

  /// Makes a value as a read would, but asks `registry`, and stores nothing yet.
  ///
  /// - Returns: What stores the value; nil where the property has one already, or is an Optional for which nothing is
  ///   registered.
  package func prepareValue(
    in container: AnyObject?, from registry: InitializerRegistry
  ) throws(InjectionError) -> Store? {
    if hasValue { return nil }
    let point = point(in: container)
    let provided = try CreationFrame.push(Value.self, asked: point.asked) { frame throws(InjectionError) in
      try registry.provide(Value.self, at: point, as: frame)
    }
    guard let provided else {
      _ = try registry.nilOrThrow(at: point) as Value
      return nil
    }
    return { () throws(InjectionError) in
      try assignIfVacant(provided.value, byHand: false) ? { notify(provided, at: point) } : {}
    }
  }

  /// Injects a value that is there already, in place of whatever the property has, and calls the hooks.
  package func inject(_ value: Value, in container: AnyObject?) throws(InjectionError) {
    try change(to: value, in: container, exclusively: false, byHand: false)
    notify(Provided(value: value, entry: nil), at: point(in: container))
  }
}
