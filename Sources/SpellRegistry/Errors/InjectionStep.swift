/// One step on the path of an ``InjectionError``, such as a request for a type.
package struct InjectionStep: Sendable {
  package let typeName: String
  private let type: ErasedType
  /// The name that the request specifies; nil if the request uses the property's own name or none.
  package var name: String?
  /// The property that made the request, as `Container.property`; nil if there is none.
  package var property: String?
  /// The place of the property's declaration, as `Module/File.swift:line`.
  package var declaration: String?
  /// The place of the registration that serves the request, as `Module/File.swift:line`; nil if none is known.
  package var registration: String?
  /// The place at which the requested key is declared, as `Module/File.swift:line`; nil if a type is requested.
  package let key: String?

  package init(_ service: Service, property: String? = nil, registration: SourcePlace? = nil) {
    (typeName, type) = (TypeName.of(service.type), ErasedType(service.type))
    key = service.key?.place.description
    (self.property, self.registration) = (property, registration?.description)
  }

  /// Returns whether this step and `other` may be the same step: every fact that is known of both steps is equal.
  func isLike(_ other: InjectionStep) -> Bool {
    func agree(_ mine: String?, _ others: String?) -> Bool { mine == nil || others == nil || mine == others }
    return typeName == other.typeName && agree(key, other.key) && agree(registration, other.registration)
      && agree(property, other.property) && agree(name, other.name)
  }

  /// The property's own name; nil if no property made the request, or if the name is unknown.
  package var propertyName: Substring? { property?.split(separator: ".").last.flatMap { $0.hasPrefix("(") ? nil : $0 } }

  /// The first argument of `resolve` for this step, as source code: `Clock.self` or `.key`.
  private var source: String { key != nil ? ".key" : TypeName.source(of: type.type) }

  /// The source code of the call that throws this step's error, for messages.
  var call: String { propertyName.map { "$\($0).resolve()" } ?? "registry.resolve(\(source))" }

  var callThatAwaits: String { "try await registry.resolveAsync(\(source))" }

  /// Returns the source code of a constant that requests this step's value when the constant is read.
  ///
  /// A `Sendable` class may store this constant in a property.
  package func constant(_ policy: String = "") -> String {
    if key != nil { return "Injected(.key\(policy.isEmpty ? "" : ", \(policy)"))" }
    return "Injected<\(TypeName.of(type.type, isNested: true))>(\(policy))"
  }

  /// Whether the step has a registration or a declared key.
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
