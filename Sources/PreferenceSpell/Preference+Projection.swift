public import PreferenceStorage

extension Preference {
  /// What `$property` offers.
  public struct Projection: Sendable {
    let entry: PreferenceEntry<Value>

    /// The key in the store.
    public var key: String { entry.key }

    /// Whether the store has a value, readable or not; without one the property reads as its default.
    public var isSet: Bool { entry.isSet }

    /// Removes the value from the store, so that the property reads as its default again.
    public func reset() { entry.reset() }

    /// The value, or the default, with an error where a read of the property would give the default instead.
    ///
    /// - Throws: `.typeMismatch` where the value can't be read as the property's type, and what the store throws.
    public func load() throws(PreferenceError) -> Value { try entry.load() }

    /// Assigns, with an error where an assignment to the property would only be told by ``error``.
    ///
    /// - Throws: What the store throws; the value is then what it was before.
    public func set(_ value: Value) throws(PreferenceError) { try entry.write(value) }

    /// Changes the value with no other writer in between, in this process or another: what a `+=` is not.
    ///
    /// ```swift
    /// try settings.$launches.update { $0 += 1 }
    /// ```
    ///
    /// It is one transaction of the store: the body runs once, and nothing is written where it throws. For changes of
    /// several keys at once, use the store's own `transaction`.
    ///
    /// - Throws: What the body throws, `.typeMismatch` where the present value can't be read as the property's type, and
    ///   what the store throws.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result { try entry.update(body) }

    /// Why the value can't be read, or why the last assignment was not kept; nil where all is well.
    ///
    /// Asks the store anew at each read; why an assignment failed is forgotten when the store changes. A value that can't be read as the property's type stays in the store as it is
    /// until it is assigned or reset.
    public var error: PreferenceError? { entry.error }

    /// The value now, then each value it changes to, whoever changes it.
    ///
    /// A slow reader gets the latest value instead of all those between. The sequence ends when its task is cancelled.
    ///
    /// ```swift
    /// for await launches in settings.$launches.values { print(launches) }
    /// ```
    public var values: PreferenceValues<Value> { PreferenceValues(entry: entry) }
  }
}
