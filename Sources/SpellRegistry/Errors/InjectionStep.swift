/// One step on the path of an ``InjectionError``: a request for a value, or a value that was being made.
///
/// A step consists of facts, which are put into words only when an error is described. It keeps no object alive.
package struct InjectionStep: Sendable {
  package let service: Service
  /// The name that the request specifies; nil if the request uses the property's own name or none.
  package var name: String?
  /// The property that made the request; nil if there is none, or if its container isn't known.
  ///
  /// The name is the property's own name; nil if reflection doesn't show it.
  private var asker: (container: ErasedType, name: String?)?
  /// The place of the property's declaration; nil if none is known.
  package private(set) var declarationPlace: SourcePlace?
  /// The facts about the registration that was chosen for the request.
  private let registered: (place: SourcePlace, isForClass: Bool, isForName: Bool)?

  /// Creates a step for a request that the registration serves, or for a value that it makes.
  package init(_ service: Service, servedBy record: RegistrationRecord? = nil, named name: String? = nil) {
    (self.service, self.name) = (service, name)
    registered = record.map { ($0.place, $0.container != nil, $0.name != nil) }
  }

  /// Creates a step for the request of a property.
  package init(
    _ service: Service, servedBy record: RegistrationRecord? = nil, ofProperty name: String,
    in container: any Any.Type
  ) {
    self.init(service, servedBy: record)
    asker = (ErasedType(container), name)
  }

  /// Adds the property that made the request.
  mutating func note(property name: String?, in container: (any Any.Type)?, declaredAt place: SourcePlace) {
    asker = container.map { (ErasedType($0), name) }
    declarationPlace = place
  }

  /// Returns whether this step and `other` may be the same step.
  ///
  /// The types must be equal. The key, the registration, the property and the name must be equal if both steps have
  /// them.
  func isLike(_ other: InjectionStep) -> Bool {
    func agree<Fact: Equatable>(_ mine: Fact?, _ others: Fact?) -> Bool {
      mine == nil || others == nil || mine == others
    }
    return ErasedType(service.type) == ErasedType(other.service.type)
      && agree(service.key.map { ObjectIdentifier($0) }, other.service.key.map { ObjectIdentifier($0) })
      && agree(registered?.place, other.registered?.place) && agree(property, other.property) && agree(name, other.name)
  }

  /// Returns whether the step is the request of a property that is declared at a place.
  func isDeclared(at place: SourcePlace) -> Bool { declarationPlace == place }

  // MARK: In words

  package var typeName: String { TypeName.of(service.type) }
  /// The property that made the request, as `Container.property`; nil if there is none or the container isn't known.
  package var property: String? {
    asker.map { "\(TypeName.of($0.container.type)).\($0.name ?? "(unnamed: built without reflection metadata)")" }
  }
  /// The property's own name; nil if no property made the request, or if the name is unknown.
  package var propertyName: String? { asker?.name }
  /// The place of the property's declaration, as `Module/File.swift:line`; nil if none is known.
  package var declaration: String? { declarationPlace?.description }
  /// The place of the registration chosen for the request, as `Module/File.swift:line`; nil if none is known.
  package var registration: String? { registered?.place.description }

  /// The first argument of `resolve` for this step, as source code: `Clock.self`, or `.key` in place of a declared key.
  private var source: String { service.key != nil ? ".key" : TypeName.source(of: service.type) }
  /// The arguments of `resolve` for this step, as source code: `Clock.self, named: "backup"`.
  private var arguments: String {
    let name = name ?? (registered?.isForName ?? false ? propertyName : nil)
    return source + (name.map { ", named: \($0.debugDescription)" } ?? "")
  }

  /// The source code of a throwing call that requests this step's value, for use in messages.
  var call: String { "registry.resolve(\(arguments)\(registered?.isForClass ?? false ? ", in: …" : ""))" }

  /// The source code of a call that wraps this step's value, without the body of its closure.
  var callThatDecorates: String { "registry.decorate(\(source)) { inner in … }" }

  var callThatAwaits: String { "try await registry.resolveAsync(\(arguments))" }

  /// The sentence on how to request this step's value, which the main actor makes, from elsewhere.
  ///
  /// The value of a registration for one class can't be awaited, because `resolveAsync` knows no container.
  var adviceToReachMainActor: String {
    if registered?.isForClass ?? false {
      return "Ask for it on the main actor: try await MainActor.run { try \(call) }."
    }
    return "Ask for it on the main actor, or await it: \(callThatAwaits)."
  }

  /// Returns the source code that creates an `Injected` instance for this step's value, such as `Injected<Clock>()`.
  ///
  /// The code is for a constant such as `let clock = Injected<Clock>()`, which requests the value when `clock.value` is
  /// read. Unlike an `@Injected` property, such a constant is also possible in a `Sendable` class.
  ///
  /// - Parameter policy: The instance's `InjectionPolicy` as source code, such as `.everyRead`; empty for the default.
  package func constant(_ policy: String = "") -> String {
    if service.key != nil { return "Injected(.key\(policy.isEmpty ? "" : ", \(policy)"))" }
    return "Injected<\(TypeName.of(service.type, isNested: true))>(\(policy))"
  }

  /// Whether the step has a known registration or a declared key.
  ///
  /// A step for a property's own expression has neither.
  var isRegistered: Bool { registered != nil || service.key != nil }

  var line: String? {
    let key = service.key?.place
    let facts = [
      key.map { "of the key declared at \($0)" }, property.map { "for \($0)" }, declaration.map { "declared at \($0)" },
      // A key's own initializer has the same place as the key, and the line already lists that place.
      registered.flatMap { $0.place == key ? nil : "registered at \($0.place)" },
    ].compactMap(\.self)
    return facts.isEmpty ? nil : "    \(typeName): \(facts.joined(separator: ", "))"
  }
}
