internal import Synchronization

// A read that finds no value: who makes it, in which order, and who hears of it.
//
// This is compiled once for all types. A `Value` is handed on as it is, and never wrapped on the usual way (in an
// Optional, a tuple, a struct of its own): the runtime would have to look up that type each time, which costs more than
// all the rest.

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
    in container: AnyObject?, followsReinjection: Bool = false, fallback: Fallback
  ) throws(InjectionError) -> Value {
    try CreationFrame.push(Value.self, asked: asked(in: container)) { frame throws(InjectionError) in
      while true {
        let word = try settledWord(in: container, as: frame)
        if word != CreationGate.vacant, !(followsReinjection && isOutdated(word)) {
          do throws(NoValue) { return try settledValue(at: word) } catch {}
        } else if record.pointee.gate.enter(from: word, as: frame) {
          return try makeValue(in: container, replacing: word, fallback: fallback, as: frame)
        }
      }
    }
  }

  /// The value, made as ``makeValue(in:followsReinjection:fallback:)`` does, by a wrapper that has no fallback.
  ///
  /// - Parameters:
  ///   - container: The object that holds the property, if one does.
  ///   - followsReinjection: Whether an injected value that was there before its type was last re-injected is made anew.
  /// - Throws: Why there is no value; nothing is stored then, and the next read tries again.
  public func makeValue(
    in container: AnyObject?, followsReinjection: Bool = false
  ) throws(InjectionError) -> Value {
    // Not a default argument: that would be a closure on the heap at each call.
    try makeValue(in: container, followsReinjection: followsReinjection) { _ in nil }
  }

  /// Makes a value for this one read, stores nothing, and calls the hooks.
  public func makeUnstoredValue(in container: AnyObject?) throws(InjectionError) -> Value {
    try CreationFrame.push(Value.self, asked: asked(in: container)) { frame throws(InjectionError) in
      let registry = registry
      let answer = answer(of: registry, in: container, as: frame)
      if answer == nil && !hasExpression { return try registry.nilOrThrow(at: point(in: container)) }
      let value = try value(of: answer, from: registry, in: container, as: frame)
      notify(value, of: answer, from: registry, in: container)
      return value
    }
  }

  /// Makes the value as the owner of the gate, and leaves the gate.
  private func makeValue(
    in container: AnyObject?, replacing word: UInt, fallback: Fallback,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    let registry = registry
    // Taken before the registry is asked: a re-injection in between makes the value outdated, never the reverse.
    let generation = latestGeneration
    let answer = answer(of: registry, in: container, as: frame)
    if answer == nil && !hasExpression {
      return try makeFallback(fallback, in: container, replacing: word, of: generation, as: frame)
    }
    let value: Value
    do throws(InjectionError) {
      value = try self.value(of: answer, from: registry, in: container, as: frame)
    } catch {
      record.pointee.gate.settle(frame, as: word)
      throw error
    }
    store(value, of: generation, exclusively: false, as: frame)
    notify(value, of: answer, from: registry, in: container)
    return value
  }

  /// What the wrapper makes of nothing; else the value that there was; else nil or an error.
  private func makeFallback(
    _ fallback: Fallback, in container: AnyObject?, replacing word: UInt, of generation: UInt,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    let value: Value?
    do throws(InjectionError) { value = try fallback(point(in: container)) } catch {
      record.pointee.gate.settle(frame, as: word)
      throw error
    }
    if let value {
      store(value, of: generation, exclusively: false, as: frame)
      notify(value, of: nil, from: registry, in: container)
      return value
    }
    let old = self.value(at: word)
    record.pointee.gate.settle(frame, as: old == nil ? word : word & CreationGate.tags | generation)
    return if let old { old } else { try registry.nilOrThrow(at: point(in: container)) }
  }

  private var hasExpression: Bool { record.pointee.declaration.expression != nil }

  /// The registration that makes the value; nil where the property's own expression comes first, or none does.
  private func answer(
    of registry: InitializerRegistry, in container: AnyObject?, as frame: UnsafeMutablePointer<CreationFrame>
  ) -> Answer? {
    if !hasExpression { return registry.answer(to: Value.self, at: { point(in: container) }, as: frame) }
    // What is registered for no container in particular comes after the property's own expression.
    if !registry.hasLimits { return nil }
    return registry.answer(to: Value.self, at: { point(in: container) }, reach: .containersOnly, as: frame)
  }

  /// What a registration makes or, where there is none, the property's own expression.
  private func value(
    of answer: Answer?, from registry: InitializerRegistry, in container: AnyObject?,
    as frame: UnsafeMutablePointer<CreationFrame>
  ) throws(InjectionError) -> Value {
    if let answer { return try registry.value(of: answer, at: { point(in: container) }, as: frame) }
    guard let expression = record.pointee.declaration.expression else {
      trap("Nothing makes the property declared at \(identity.place); please report this.")
    }
    try frame.beginExpression()
    return expression()
  }

  /// Calls each hook that wants to hear of this injection, once, with no lock held.
  private func notify(
    _ value: Value, of answer: Answer?, from registry: InitializerRegistry, in container: AnyObject?
  ) {
    if let answer { answer.entry.hooks.callAll(value, at: point(in: container)) }
    if let hook = record.pointee.declaration.options?.hook, let container { hook(container, value) }
    registry.announce(value, to: container) { point(in: container) }
    // Its frame has gone on naming the registration, which a hook may have withdrawn.
    withExtendedLifetime(answer) {}
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
    let made = try CreationFrame.push(Value.self, asked: asked(in: container)) { frame throws(InjectionError) in
      func point() -> InjectionPoint { self.point(in: container) }
      return try registry.answer(to: Value.self, at: point, as: frame).map { answer throws(InjectionError) in
        (value: try registry.value(of: answer, at: point, as: frame) as Value, answer: answer)
      }
    }
    guard let made else {
      _ = try registry.nilOrThrow(at: point(in: container)) as Value
      return nil
    }
    return { () throws(InjectionError) in
      let isStored = try assignIfVacant(made.value, byHand: false)
      return isStored ? { notify(made.value, of: made.answer, from: self.registry, in: container) } : {}
    }
  }

  /// Injects a value that is there already, in place of whatever the property has, and calls the hooks.
  package func inject(_ value: Value, in container: AnyObject?) throws(InjectionError) {
    try change(to: value, in: container, exclusively: false, byHand: false)
    notify(value, of: nil, from: registry, in: container)
  }

  /// What tells this question from others that are open.
  private func asked(in container: AnyObject?) -> CreationFrame.Asked {
    CreationFrame.Asked(container: container.map { ObjectIdentifier($0) }, property: record, name: nil)
  }
}
