public import PreferenceStorage

extension Preference {
  /// The projection `$property`.
  ///
  /// `settings.$user.name` is a ``PreferencePart``, which you can pass to other code.
  @dynamicMemberLookup public struct Projection: Sendable {
    let cache: PreferenceCache<Value>

    /// The key in the store.
    public var key: String { cache.key }

    /// The value of the property, which code that was passed the projection can read and set.
    public var value: Value {
      get { cache.value }
      nonmutating set { cache.set(newValue) }
    }

    /// Whether the store has a value, readable or not; without one the property reads as its default.
    public var isSet: Bool { cache.isSet }

    /// Removes the value from the store, so that the property reads as its default again.
    ///
    /// If that fails the value stays, and ``error`` has the reason.
    public func reset() { cache.reset() }

    /// Returns the value, or the default, with an error if a read of the property would give the default instead.
    ///
    /// - Throws: `.typeMismatch` if the value can't be read as the property's type, and what the store throws.
    public func load() throws(PreferenceError) -> Value { try cache.load() }

    /// Assigns, with an error if an assignment to the property would only leave one in ``error``.
    ///
    /// - Throws: What the store throws; the value is then what it was before.
    public func set(_ value: Value) throws(PreferenceError) { try cache.replace(by: cache.text(of: value)) }

    /// Changes the value with no other writer in between, in this process or another, unlike a `+=`.
    ///
    /// It is one transaction of the store: the body runs once, and nothing is written if it throws.
    ///
    /// - Parameters:
    ///   - recovering: Whether a value that can't be read is overwritten, and the body begins with the default.
    ///   - body: Changes the value in place.
    /// - Throws: What the body throws, `.typeMismatch` if the present value can't be read as the property's type, and
    ///   what the store throws.
    @discardableResult
    public func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
      try cache.update(recovering: recovering, body)
    }

    /// The error of the value that can't be read or of the last assignment that was not kept; otherwise nil.
    ///
    /// Asks the store at each read. Why an assignment failed is forgotten when the value changes.
    public var error: PreferenceError? { cache.error }

    /// The value now, then each value it changes to, in this process or another.
    public var values: PreferenceValues<Value> { PreferenceValues(cache: cache) }

    /// A part of the value, by its name.
    public subscript<Part>(
      dynamicMember path: any WritableKeyPath<Value, Part> & Sendable
    ) -> PreferencePart<Value, Part> {
      PreferencePart(cache: cache, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }
  }
}

/// A part of a preference's value, which you can read, set and pass to other code.
///
/// ```swift
/// let name = settings.$user.name   // of the property `user`
/// name.value = "Ada"
/// try settings.$user.tags.update { $0.append("x") }
/// ```
///
/// A change of a part is one transaction of the store on the whole value, so threads and processes that change other parts lose
/// nothing. Safe to use from any thread.
@dynamicMemberLookup public struct PreferencePart<Whole: Codable & Sendable, Value>: Sendable {
  let cache: PreferenceCache<Whole>
  let get: @Sendable (Whole) -> Value
  let set: @Sendable (inout Whole, Value) -> Void

  /// The part of the value, or of the default.
  ///
  /// Setting it can't throw: if it fails the value stays, and `error` of the whole has the reason.
  public var value: Value {
    get { get(cache.value) }
    nonmutating set { cache.assign { set(&$0, newValue) } }
  }

  /// Changes the part with no other writer in between, in this process or another.
  ///
  /// - Parameters:
  ///   - recovering: Whether a value that can't be read is overwritten, and the body begins with the default's part.
  ///   - body: Changes the part in place.
  /// - Throws: What the body throws, `.typeMismatch` if the present value can't be read, and what the store throws.
  @discardableResult
  public func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    try cache.update(recovering: recovering) { whole in
      var part = get(whole)
      let result = try body(&part)
      set(&whole, part)
      return result
    }
  }

  /// A part of the part, by its name.
  public subscript<Part>(
    dynamicMember path: any WritableKeyPath<Value, Part> & Sendable
  ) -> PreferencePart<Whole, Part> {
    PreferencePart<Whole, Part>(
      cache: cache, get: { [get] in get($0)[keyPath: path] },
      set: { [get, set] whole, new in
        var part = get(whole)
        part[keyPath: path] = new
        set(&whole, part)
      })
  }
}

/// The members of the projection, for a plain constant, which has no `$`; ``Projection`` says more of each.
extension Preference {
  private var projection: Projection { Projection(cache: resolver.constantCache) }

  /// Whether the store has a value, readable or not; without one the constant reads as its default.
  public var isSet: Bool { projection.isSet }

  /// Removes the value from the store, so that the constant reads as its default again.
  public func reset() { projection.reset() }

  /// Returns the value, or the default, with an error if ``value`` would give the default instead.
  public func load() throws(PreferenceError) -> Value { try projection.load() }

  /// Assigns, with an error if an assignment to ``value`` would only leave one in ``error``.
  public func set(_ value: Value) throws(PreferenceError) { try projection.set(value) }

  /// Changes the value with no other writer in between, in this process or another.
  @discardableResult
  public func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    try projection.update(recovering: recovering, body)
  }

  /// The error of the value that can't be read, or of the last assignment that was not kept.
  public var error: PreferenceError? { projection.error }

  /// The value now, then each value it changes to, in this process or another.
  public var values: PreferenceValues<Value> { projection.values }
}
