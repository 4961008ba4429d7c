// The names are Apple's.
// swift-format-ignore-file

@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
  private let get: @isolated(any) @Sendable () -> Value
  private let set: @isolated(any) @Sendable (Value) -> Void
  @preconcurrency
  public init(
    get: @escaping @isolated(any) @Sendable () -> Value, set: @escaping @isolated(any) @Sendable (Value) -> Void
  ) {
    (self.get, self.set) = (get, set)
  }
  public var wrappedValue: Value {
    get { unsafeBitCast(get, to: (@Sendable () -> Value).self)() }
    nonmutating set { unsafeBitCast(set, to: (@Sendable (Value) -> Void).self)(newValue) }
  }
  public var projectedValue: Binding<Value> { self }
  public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject> & Sendable) -> Binding<Subject>
  where Value: Sendable {
    Binding<Subject>(
      get: { wrappedValue[keyPath: keyPath] }, set: { wrappedValue[keyPath: keyPath] = $0 })
  }
}
// `@unchecked Sendable`: both closures are `@Sendable` constants.
extension Binding: @unchecked Sendable where Value: Sendable {}
