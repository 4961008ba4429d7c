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

    /// Why the value can't be read, or why the last assignment was not kept; nil where all is well.
    ///
    /// Asks the store anew at each read. A value that can't be read as the property's type stays in the store as it is
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
