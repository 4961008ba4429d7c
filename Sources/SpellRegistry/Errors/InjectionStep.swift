/// One step on the path of an ``InjectionError``: a request for a value, or a value that was being made.
package struct InjectionStep: Sendable {
  package let typeName: String
  private let type: ErasedType
  /// The name that the request specifies; nil if the request uses the property's own name or none.
  package var name: String?
  /// The property that made the request, as `Container.property`; nil if there is none or the container isn't known.
  package var property: String?
  /// The place of the property's declaration, as `Module/File.swift:line`; nil if none is known.
  package var declaration: String?
  /// The place of the registration chosen for the request, as `Module/File.swift:line`; nil if none is known.
  package var registration: String?
  /// The place at which the requested key is declared, as `Module/File.swift:line`; nil if a type is requested.
  package let key: String?

  package init(_ service: Service, property: String? = nil, registration: SourcePlace? = nil) {
    (typeName, type) = (TypeName.of(service.type), ErasedType(service.type))
    key = service.key?.place.description
    (self.property, self.registration) = (property, registration?.description)
  }

  /// Returns whether this step and `other` may be the same step.
  ///
  /// The names of the types must be equal. The key, the registration, the property and the name must be equal if both
  /// steps have them.
  func isLike(_ other: InjectionStep) -> Bool {
    func agree(_ mine: String?, _ others: String?) -> Bool { mine == nil || others == nil || mine == others }
    return typeName == other.typeName && agree(key, other.key) && agree(registration, other.registration)
      && agree(property, other.property) && agree(name, other.name)
  }

  /// The property's own name; nil if no property made the request, or if the name is unknown.
  package var propertyName: Substring? { property?.split(separator: ".").last.flatMap { $0.hasPrefix("(") ? nil : $0 } }

  /// The first argument of `resolve` for this step, as source code: `Clock.self`, or `.key` in place of a declared key.
  private var source: String { key != nil ? ".key" : TypeName.source(of: type.type) }

  /// The source code of a throwing call that requests this step's value, for use in messages.
  var call: String { propertyName.map { "$\($0).resolve()" } ?? "registry.resolve(\(source))" }

  /// The source code of a call that wraps this step's value, without the body of its closure.
  var callThatDecorates: String { "registry.decorate(\(source)) { inner in … }" }

  var callThatAwaits: String { "try await registry.resolveAsync(\(source))" }

  /// Returns the source code that creates an `Injected` instance for this step's value, such as `Injected<Clock>()`.
  ///
  /// The code is for a constant such as `let clock = Injected<Clock>()`, which requests the value when `clock.value` is
  /// read. Unlike an `@Injected` property, such a constant is also possible in a `Sendable` class.
  ///
  /// - Parameter policy: The instance's `InjectionPolicy` as source code, such as `.everyRead`; empty for the default.
  package func constant(_ policy: String = "") -> String {
    if key != nil { return "Injected(.key\(policy.isEmpty ? "" : ", \(policy)"))" }
    return "Injected<\(TypeName.of(type.type, isNested: true))>(\(policy))"
  }

  /// Whether the step has a known registration or a declared key.
  ///
  /// A step for a property's own expression has neither.
  var isRegistered: Bool { registration != nil || key != nil }

  var line: String? {
    let facts = [
      key.map { "of the key declared at \($0)" }, property.map { "for \($0)" }, declaration.map { "declared at \($0)" },
      // A key's own initializer has the same place as the key, and the line already lists that place.
      registration.flatMap { $0 == key ? nil : "registered at \($0)" },
    ].compactMap(\.self)
    return facts.isEmpty ? nil : "    \(typeName): \(facts.joined(separator: ", "))"
  }
}
