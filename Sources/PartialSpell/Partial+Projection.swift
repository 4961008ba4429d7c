internal import SpellRegistry

extension Partial {
  /// What `$property` offers.
  public struct Projection {
    let partial: Partial
    /// The object that holds the property, if one does.
    let container: AnyObject?

    /// Whether the value has been loaded.
    ///
    /// Never loads it.
    public var isLoaded: Bool { partial.storage.hasValue }

    /// The value, as a read of the property gives it, but with an error where that would stop the program.
    ///
    /// Loads it where that has not been done.
    ///
    /// - Throws: ``PartialError``; nothing is stored then, and the next read tries again.
    @discardableResult
    public func load() throws(PartialError) -> Value { try partial.load(in: container) }

    /// Forgets the value; the next read loads it anew.
    ///
    /// Waits for a value that another thread is loading. A struct's copies share the value, and lose it together. On a
    /// plain constant, or in a struct, others may be reading: the first value is then kept, unseen, for as long as the
    /// constant is.
    public func reset() {
      do throws(InjectionError) {
        try partial.storage.reset(in: container, exclusively: container != nil)
      } catch {
        error.stop(at: partial.storage.declaration.place)
      }
    }
  }
}
