/// The reason that a value couldn't be made or injected, with the whole path to it.
///
/// An error begins at the fault and gains a step at every initializer that it passes on its way out,
/// so the path is complete wherever the error is caught. It is the same in debug and release builds.
///
/// ```swift
/// do {
///   _ = try registry.resolve(Checkout.self)
/// } catch {
///   print(error.code, error.path)  // notRegistered ["Checkout", "Network"]
///   print(error)                   // says who asked, where that was registered, and what to write
/// }
/// ```
public struct InjectionError: Error, Sendable {
  /// What kind of fault it is.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name, as it is spelled in source.
    public let description: String

    /// Nothing is registered for the type (with that name, for that container).
    public static let notRegistered = Code(description: "notRegistered")
    /// An initializer asked, directly or through others, for what it is making.
    public static let cycle = Code(description: "cycle")
    /// An initializer threw; ``InjectionError/underlying`` is what it threw.
    public static let initializerFailed = Code(description: "initializerFailed")
    /// A main-actor initializer was asked for from elsewhere.
    public static let wrongIsolation = Code(description: "wrongIsolation")
    /// The value of an async initializer was read, and isn't there: it wasn't awaited, or its scope doesn't keep it.
    public static let notReady = Code(description: "notReady")
    /// Too little of the thread's stack is left to make what is asked for: a chain of initializers is too long for it, or
    /// never ends.
    public static let stackExhausted = Code(description: "stackExhausted")
    /// The object has no injectable property that reflection can see.
    public static let noInjectableProperties = Code(description: "noInjectableProperties")
    /// The registration can never win: another one always does.
    public static let shadowed = Code(description: "shadowed")
    /// Two registrations are of equal rank for the same property.
    public static let ambiguous = Code(description: "ambiguous")
    /// A longer-lived value holds on to a shorter-lived one.
    public static let scopeCapture = Code(description: "scopeCapture")
  }

  /// Everything behind one reference, so that throwing costs no more than returning.
  private final class Details: Sendable {
    let code: Code
    let steps: [InjectionStep]
    let underlying: (any Error)?
    let notes: @Sendable () -> [String]

    init(
      _ code: Code, _ steps: [InjectionStep], _ underlying: (any Error)?, _ notes: @escaping @Sendable () -> [String]
    ) {
      self.code = code
      self.steps = steps
      self.underlying = underlying
      self.notes = notes
    }
  }
  private let details: Details

  /// - Parameter notes: What to say besides; asked for when the error is described.
  package init(
    _ code: Code, through steps: [InjectionStep], underlying: (any Error)? = nil,
    notes: @escaping @Sendable () -> [String] = { [] }
  ) {
    details = Details(code, steps, underlying, notes)
  }

  package init(_ code: Code, through steps: [InjectionStep], advice: String) {
    self.init(code, through: steps) { [advice] }
  }

  /// What kind of fault it is.
  public var code: Code { details.code }

  /// Type names, from the first asked for to the one that is at fault; a cycle ends where it began.
  public var path: [String] { details.steps.map(\.typeName) }

  /// What the initializer threw, for ``Code/initializerFailed``.
  public var underlying: (any Error)? { details.underlying }

  package var steps: [InjectionStep] { details.steps }

  /// The same error as the request for `step` throws it, which met it on the way.
  package func asked(by step: InjectionStep) -> InjectionError {
    InjectionError(code, through: [step] + steps, underlying: underlying, notes: details.notes)
  }

  /// The same error with its first step known better.
  package func locating(_ locate: (InjectionStep) -> InjectionStep) -> InjectionError {
    guard let first = steps.first else { return self }
    return InjectionError(
      code, through: [locate(first)] + steps.dropFirst(), underlying: underlying, notes: details.notes)
  }

  /// The same error with one more note.
  package func noting(_ note: String) -> InjectionError {
    let details = details
    return InjectionError(code, through: steps, underlying: underlying) { details.notes() + [note] }
  }

  package var notes: [String] { details.notes() }
}

/// One stop on the way to an ``InjectionError``.
package struct InjectionStep: Sendable {
  package let typeName: String
  /// The name that was asked with, if it isn't the property's own.
  package var name: String?
  /// `Container.property`, if a property asked.
  package var property: String?
  /// Where the property is declared, as `Module/File.swift:line`.
  package var declaration: String?
  /// Where the initializer that ran was registered.
  package var registration: String?

  /// Where the key that was asked for is declared.
  let key: String?

  package init(
    _ type: any Any.Type, property: String? = nil, declaration: String? = nil, registration: String? = nil
  ) {
    self.init(Service(type), property: property, declaration: declaration, registration: registration)
  }

  init(
    _ service: Service, property: String? = nil, declaration: String? = nil, registration: String? = nil
  ) {
    typeName = TypeName.of(service.type)
    key = service.key?.place.description
    self.property = property
    self.declaration = declaration
    self.registration = registration
  }
}
