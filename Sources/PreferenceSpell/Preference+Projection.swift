public import PreferenceStorage

extension Preference {
  /// The projection `$property`, with operations beyond reading and assigning, such as updates that can throw.
  ///
  /// A member of the value, such as `settings.$user.name`, is a ``PreferencePart``, which you can pass to other code.
  @dynamicMemberLookup public struct Projection: Sendable, CustomStringConvertible {
    let origin: PreferenceCache<Value>
    /// The latest cache of the preference, which is `origin` in most cases.
    ///
    /// If the store couldn't be created at first, a later access to the property may create it. A cache with the
    /// created store then replaces `origin`.
    var cache: PreferenceCache<Value> { origin.latest }

    /// The key of the value in the store.
    public var key: String { cache.key }

    /// The value of the property, for code that has only the projection.
    public var value: Value {
      get { cache.value }
      nonmutating set { cache.set(newValue) }
    }

    /// The key, the value, its override if any, the store's path or type, and the source location of the declaration.
    public var description: String {
      let store = cache.store.path ?? "\(type(of: cache.store))"
      let overridden = cache.overridden.map { " (overridden by \($0))" } ?? ""
      return "\(key.debugDescription): \(value)\(overridden), in \(store), declared at \(cache.place)"
    }

    /// Whether the store has a value, even one that can't be decoded.
    ///
    /// A value under a former key counts, too. If the key is overridden, the override counts instead of the stored
    /// value; the override `null` counts as no value. Without a value, the property reads as its default. False if the
    /// store can't be read.
    public var isSet: Bool { cache.isSet }

    /// Removes the value from the store, so that the property reads as its default unless it is overridden.
    ///
    /// If the removal fails, the value stays, and ``error`` has the reason.
    public func reset() { cache.reset() }

    /// Returns the value, or the default if no value is set; throws if the value can't be read.
    ///
    /// - Throws: `.typeMismatch` if the value can't be read as the property's type; any error of the store.
    public func load() throws(PreferenceError) -> Value { try cache.load() }

    /// Sets the value, even if the current value can't be read.
    ///
    /// - Throws: An error if the new value can't be encoded or stored; the current value then stays. Also an error if
    ///   only synchronizing the store or erasing the previous value failed; the new value is then set.
    public func set(_ value: Value) throws(PreferenceError) { try cache.replace(by: cache.text(of: value)) }

    /// Changes the value in one step: unlike with a `+=`, no other thread or process can write in between.
    ///
    /// The step is one transaction of the store. The body runs once, unless the store documents otherwise. Nothing is
    /// written if the body throws.
    ///
    /// - Parameters:
    ///   - recovering: Whether to overwrite a value that can't be read; the body then begins with the default.
    ///   - body: A closure that changes the value in place.
    /// - Throws: Any error of the body or the store; `.typeMismatch` if `recovering` is false and the current value
    ///   can't be read as the property's type.
    @discardableResult
    public func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
      try cache.update(recovering: recovering, body)
    }

    /// The error in reading the value, or else the error of the last assignment; nil if neither has failed.
    ///
    /// Each access reads the store. The error of an assignment is discarded when a later assignment, `set(_:)`,
    /// `update(_:)` or `reset()` succeeds, or when the property reads a newer value.
    public var error: PreferenceError? { cache.error }

    /// An asynchronous sequence of the current value and each later value, set by this process or another.
    public var values: PreferenceValues<Value> { PreferenceValues(cache: cache) }

    /// The part of the value at a key path.
    public subscript<Part>(
      dynamicMember path: any WritableKeyPath<Value, Part> & Sendable
    ) -> PreferencePart<Value, Part> {
      PreferencePart(origin: origin, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
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
/// Each change of a part is one transaction of the store on the whole value. Threads and processes that change
/// different parts therefore don't overwrite each other's changes. A part is safe to use from any thread.
@dynamicMemberLookup public struct PreferencePart<Whole: Codable & Sendable, Value>: Sendable {
  let origin: PreferenceCache<Whole>
  private var cache: PreferenceCache<Whole> { origin.latest }
  let get: @Sendable (Whole) -> Value
  let set: @Sendable (inout Whole, Value) -> Void

  /// The part of the value, or of the default if no value is set.
  ///
  /// An assignment can't throw: if it fails, the value stays, and `error` of the whole preference has the reason.
  public var value: Value {
    get { get(cache.value) }
    nonmutating set { cache.assign { set(&$0, newValue) } }
  }

  /// Changes the part in one step: no other thread or process can write in between.
  ///
  /// - Parameters:
  ///   - recovering: Whether to overwrite a value that can't be read; the body then begins with the default's part.
  ///   - body: A closure that changes the part in place.
  /// - Throws: Any error of the body or the store; `.typeMismatch` if `recovering` is false and the current value can't
  ///   be read as the type of the whole preference.
  @discardableResult
  public func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    try cache.update(recovering: recovering) { whole in
      var part = get(whole)
      let result = try body(&part)
      set(&whole, part)
      return result
    }
  }

  /// The part at a key path within this part.
  public subscript<Part>(
    dynamicMember path: any WritableKeyPath<Value, Part> & Sendable
  ) -> PreferencePart<Whole, Part> {
    PreferencePart<Whole, Part>(
      origin: origin, get: { [get] in get($0)[keyPath: path] },
      set: { [get, set] whole, new in
        var part = get(whole)
        part[keyPath: path] = new
        set(&whole, part)
      })
  }
}

/// The operations of ``Projection`` for a constant such as `let x = Preference(…)`, which has no `$x`.
extension Preference {
  private var projection: Projection { Projection(origin: resolver.constantCache) }

  /// Whether the store has a value, even one that can't be decoded; see ``Projection/isSet``.
  public var isSet: Bool { projection.isSet }

  /// Removes the value from the store, so that ``value`` is the default unless the key is overridden.
  public func reset() { projection.reset() }

  /// Returns the value, or the default if no value is set; throws if the value can't be read.
  public func load() throws(PreferenceError) -> Value { try projection.load() }

  /// Sets the value, even if the current value can't be read; throws an error if the new value can't be stored.
  public func set(_ value: Value) throws(PreferenceError) { try projection.set(value) }

  /// Changes the value in one step: no other thread or process can write in between.
  @discardableResult
  public func update<Result>(recovering: Bool = false, _ body: (inout Value) throws -> Result) throws -> Result {
    try projection.update(recovering: recovering, body)
  }

  /// The error in reading the value, or else the error of the last assignment; nil if neither has failed.
  public var error: PreferenceError? { projection.error }

  /// An asynchronous sequence of the current value and each later value, set by this process or another.
  public var values: PreferenceValues<Value> { projection.values }
}
