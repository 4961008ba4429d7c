/// One stop on the way to an ``InjectionError``.
package struct InjectionStep: Sendable {
  package let typeName: String
  /// The name that was asked with, if it isn't the property's own.
  package var name: String?
  /// `Container.property`, if a property asked.
  package var property: String?
  /// The place of the property's declaration, as `Module/File.swift:line`.
  package var declaration: String?
  /// The place of the registration of the initializer that ran.
  package var registration: String?
  /// The place of the declaration of the key that was asked for.
  private let key: String?

  package init(_ service: Service, property: String? = nil, registration: SourcePlace? = nil) {
    typeName = TypeName.of(service.type)
    key = service.key?.place.description
    self.property = property
    self.registration = registration?.description
  }

  /// Whether nothing that is known of both tells them apart.
  func isLike(_ other: InjectionStep) -> Bool {
    func agree(_ mine: String?, _ others: String?) -> Bool { mine == nil || others == nil || mine == others }
    return typeName == other.typeName && agree(key, other.key) && agree(registration, other.registration)
      && agree(property, other.property) && agree(name, other.name)
  }

  /// The property's own name.
  package var propertyName: Substring? { property?.split(separator: ".").last }

  /// The argument that asks for the step.
  private var source: String {
    key != nil ? ".key" : typeName.hasPrefix("any ") ? "(\(typeName)).self" : "\(typeName).self"
  }

  /// The call that throws the error of this step.
  var call: String { propertyName.map { "$\($0).resolve()" } ?? "registry.resolve(\(source))" }

  var callThatAwaits: String { "try await registry.resolveAsync(\(source))" }

  /// The constant that asks for the step's value when it is read, which a Sendable class may have, too.
  package func constant(_ policy: String = "") -> String {
    if key != nil { return "Injected(.key\(policy.isEmpty ? "" : ", \(policy)"))" }
    return "Injected<\(typeName)>(\(policy))"
  }

  /// Whether a registration, or a key's own, served the step.
  var isRegistered: Bool { registration != nil || key != nil }

  var line: String? {
    let facts = [
      key.map { "of the key declared at \($0)" }, property.map { "for \($0)" }, declaration.map { "declared at \($0)" },
      // A key's own initializer is where the key is.
      registration.flatMap { $0 == key ? nil : "registered at \($0)" },
    ].compactMap(\.self)
    return facts.isEmpty ? nil : "    \(typeName): \(facts.joined(separator: ", "))"
  }
}
