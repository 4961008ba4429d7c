/// A type that is an array, for code that knows the type of the elements only at run time.
private protocol ArrayValue { static var elementType: any Any.Type { get } }

extension Array: ArrayValue { fileprivate static var elementType: any Any.Type { Element.self } }

extension InitializerRegistry {
  /// Returns the advice for an array that nothing is registered for: to register one of all registered elements.
  ///
  /// The result is nil for a type that isn't an array, and for an array of a concrete type for which nothing is
  /// registered.
  func adviceOnArray(_ type: any Any.Type) -> String? {
    // The name rules out most types, because the cast would search the conformances of the whole program.
    guard _typeName(type, qualified: false).hasPrefix("Array<"),
      let element = (type as? any ArrayValue.Type)?.elementType
    else { return nil }
    let service = Service(element)
    let records = reachable.map(\.record).filter { $0.container == nil && $0.isRegistered(for: service) }
    let name = TypeName.of(element, isNested: true)
    guard !records.isEmpty || name.hasPrefix("any ") else { return nil }
    let listed = records.prefix(5).map { "\($0.summary) at \($0.place)" } + (records.count > 5 ? ["others"] : [])
    let registered =
      records.isEmpty
      ? "Nothing is registered for \(name) either."
      : "Registered for the elements: \(listed.joined(separator: "; "))."
    let source = TypeName.source(of: element)
    return """
      \(registered) registry.resolveAll(\(source)) returns one value of each of these registrations. To get that array here, \
      register it: registry.register([\(name)].self) { try $0.resolveAll(\(source)) }
      """
  }
}
