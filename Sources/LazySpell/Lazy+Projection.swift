public import SpellRegistry

extension Lazy {
  /// What `$property` offers.
  public struct Projection {
    let lazy: Lazy
    /// The object that holds the property, if one does.
    let container: AnyObject?

    /// Whether the value has been made or assigned.
    ///
    /// Never makes it.
    public var isInitialized: Bool { lazy.storage.hasValue }

    /// The value, as a read of the property gives it, but with an error where that would stop the program.
    ///
    /// - Throws: `.notRegistered`, `.cycle`, `.initializerFailed`, `.wrongIsolation` or `.notReady`.
    @discardableResult
    public func resolve() throws(InjectionError) -> Value { try lazy.resolve(in: container) }

    /// Forgets the value; the next read makes another.
    ///
    /// Waits for a value that another thread is making. A struct's copies that share the value lose it together. On a
    /// plain constant, or a struct with copies, others may be reading: the first value is then kept, unseen, for as long
    /// as the constant is.
    public func reset() {
      do throws(InjectionError) { try lazy.storage.reset(in: container, exclusively: container != nil) } catch {
        error.stop(at: lazy.storage.declaration.place)
      }
    }
  }
}
