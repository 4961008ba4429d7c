public import SpellRegistry

extension Injected {
  /// What `$property` offers.
  public struct Projection {
    let injected: Injected
    /// The object that holds the property, if one does.
    let container: AnyObject?

    /// Whether the property has a value now: it was injected or assigned, and is still alive where it is held weakly.
    public var isResolved: Bool {
      if case .weak(let weakValue) = injected.policy { return weakValue.value(as: Value.self) != nil }
      return injected.storage.hasValue
    }

    /// The value, as a read of the property gives it, but with an error where that would stop the program.
    ///
    /// - Throws: `.notRegistered`, `.cycle`, `.initializerFailed`, `.wrongIsolation` or `.notReady`.
    @discardableResult
    public func resolve() throws(InjectionError) -> Value { try injected.resolve(in: container) }

    /// Forgets the value, an assigned one too; the next read asks the registry.
    ///
    /// Waits for a value that another thread is making. A struct's copies that share the value lose it together. On a
    /// plain constant, or a struct with copies, others may be reading: the first value is then kept, unseen, for as long
    /// as the constant is.
    public func reset() {
      if case .weak(let weakValue) = injected.policy {
        return weakValue.hold(weakValue.nothing(as: Value.self))
      }
      do throws(InjectionError) { try injected.storage.reset(in: container, exclusively: container != nil) } catch {
        error.stop(at: injected.storage.declaration.place)
      }
    }
  }
}
