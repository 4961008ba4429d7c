public import PreferenceStorage

extension Preference {
  /// What `$property` offers.
  public struct Projection: Sendable {
    let cache: PreferenceCache<Value>

    /// The key in the store.
    public var key: String { cache.key }

    /// Whether the store has a value, readable or not; without one the property reads as its default.
    public var isSet: Bool { cache.isSet }

    /// Removes the value from the store, so that the property reads as its default again.
    ///
    /// Where that fails the value stays, and ``error`` has the reason.
    public func reset() { cache.reset() }

    /// Returns the value, or the default, with an error where a read of the property would give the default instead.
    ///
    /// - Throws: `.typeMismatch` where the value can't be read as the property's type, and what the store throws.
    public func load() throws(PreferenceError) -> Value { try cache.load() }

    /// Assigns, with an error where an assignment to the property would only leave one in ``error``.
    ///
    /// - Throws: What the store throws; the value is then what it was before.
    public func set(_ value: Value) throws(PreferenceError) { try cache.write(value) }

    /// Changes the value with no other writer in between, in this process or another: what a `+=` is not.
    ///
    /// ```swift
    /// try settings.$launches.update { $0 += 1 }
    /// ```
    ///
    /// It is one transaction of the store: the body runs once, and nothing is written if it throws. For changes of
    /// several keys at once, use the store's own `transaction`.
    ///
    /// - Throws: What the body throws, `.typeMismatch` where the present value can't be read as the property's type, and
    ///   what the store throws.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result { try cache.update(body) }

    /// Why the value can't be read, or why the last assignment was not kept; nil while all is well.
    ///
    /// Asks the store at each read; why an assignment failed is forgotten when the store changes. A value that can't be
    /// read as the property's type stays in the store as it is until it is assigned or reset.
    public var error: PreferenceError? { cache.error }

    /// The value now, then each value it changes to, in this process or another.
    ///
    /// A slow reader gets the latest value instead of all those between. The sequence ends when its task is cancelled.
    ///
    /// ```swift
    /// for await launches in settings.$launches.values { print(launches) }
    /// ```
    public var values: PreferenceValues<Value> { PreferenceValues(cache: cache) }
  }
}

/// What `$property` offers, for a plain constant, which has no `$`.
///
/// ```swift
/// enum Settings { static let launches = Preference("launches", default: 0) }
/// try Settings.launches.update { $0 += 1 }
/// ```
extension Preference {
  /// Whether the store has a value, readable or not; without one the constant reads as its default.
  public var isSet: Bool { projectedValue.isSet }

  /// Removes the value from the store, so that the constant reads as its default again; see ``Projection/reset()``.
  public func reset() { projectedValue.reset() }

  /// Returns the value, or the default, with an error where ``value`` would give the default instead.
  ///
  /// - Throws: `.typeMismatch` where the value can't be read as the constant's type, and what the store throws.
  public func load() throws(PreferenceError) -> Value { try projectedValue.load() }

  /// Assigns, with an error where an assignment to ``value`` would only leave one in ``error``.
  ///
  /// - Throws: What the store throws; the value is then what it was before.
  public func set(_ value: Value) throws(PreferenceError) { try projectedValue.set(value) }

  /// Changes the value with no other writer in between, in this process or another; see ``Projection/update(_:)``.
  ///
  /// - Throws: What the body throws, `.typeMismatch` where the present value can't be read as the constant's type, and
  ///   what the store throws.
  @discardableResult
  public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
    try projectedValue.update(body)
  }

  /// Why the value can't be read, or why the last assignment was not kept; see ``Projection/error``.
  public var error: PreferenceError? { projectedValue.error }

  /// The value now, then each value it changes to, in this process or another; see ``Projection/values``.
  public var values: PreferenceValues<Value> { projectedValue.values }
}
