internal import Support

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

    /// Nothing is registered for the type (with that name, for that container); or the registry that a property asks is
    /// gone.
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

  private struct Details: Sendable {
    let code: Code
    let steps: [InjectionStep]
    let underlying: (any Error)?
    let notes: @Sendable () -> [String]
  }
  /// Everything behind one reference, so that throwing costs no more than returning.
  private let box: Box<Details>

  /// - Parameter notes: What to say besides; asked for when the error is described.
  package init(
    _ code: Code, through steps: [InjectionStep], underlying: (any Error)? = nil,
    notes: @escaping @Sendable () -> [String] = { [] }
  ) {
    box = Box(Details(code: code, steps: steps, underlying: underlying, notes: notes))
  }

  package init(_ code: Code, through steps: [InjectionStep], advice: String) {
    self.init(code, through: steps) { [advice] }
  }

  /// What kind of fault it is.
  public var code: Code { box.content.code }

  /// Type names, from the first asked for to the one that is at fault; a cycle ends where it began.
  public var path: [String] { box.content.steps.map(\.typeName) }

  /// What the initializer threw, for ``Code/initializerFailed``.
  public var underlying: (any Error)? { box.content.underlying }

  package var steps: [InjectionStep] { box.content.steps }

  /// The same error as the request for `step` throws it, which met it on the way.
  package func asked(by step: InjectionStep) -> InjectionError {
    InjectionError(code, through: [step] + steps, underlying: underlying, notes: box.content.notes)
  }

  /// The same error, whose first step is the property at `point`.
  func located(at point: InjectionPoint) -> InjectionError {
    let known = point.step(point.propertyType)
    guard steps.first?.typeName == known.typeName else { return self }
    return InjectionError(code, through: [known] + steps.dropFirst(), underlying: underlying, notes: box.content.notes)
  }

  /// The same error with one more note.
  package func noting(_ note: String) -> InjectionError {
    InjectionError(code, through: steps, underlying: underlying) { [box] in box.content.notes() + [note] }
  }

  package var notes: [String] { box.content.notes() }
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

  package init(_ service: Service, property: String? = nil, registration: SourcePlace? = nil) {
    typeName = TypeName.of(service.type)
    key = service.key?.place.description
    self.property = property
    self.registration = registration?.description
  }
}

extension InjectionError: CustomStringConvertible {
  /// What went wrong, for whom, the way there with every registration's file and line, and what to do.
  public var description: String {
    let steps = code == .cycle ? Self.firstLap(of: steps) : steps
    var lines = [headline(of: steps)]
    if steps.count > 1 || steps.contains(where: { $0.registration != nil || $0.key != nil }) {
      lines.append("  Path: \(Self.shortened(steps.map(\.typeName)).joined(separator: " → "))")
      // A cycle ends with the step that it began with.
      let facts = steps.compactMap(\.line)
      lines += Self.shortened(code == .cycle && facts.last == facts.first ? facts.dropLast() : facts)
    }
    // If the headline is a note, it has been said.
    lines += notes.filter { $0 != lines[0] }.map { "  \($0)" }
    return lines.joined(separator: "\n")
  }

  private func headline(of steps: [InjectionStep]) -> String {
    let culprit = steps.last
    let type = culprit?.typeName ?? "?"
    let place = steps.last { $0.property != nil && (code != .cycle || $0.typeName == type) }.map { step in
      " for \(step.property ?? "?")" + (step.declaration.map { " (\($0))" } ?? "")
    }
    switch code {
    case .notRegistered:
      let name = culprit?.name.map { " named \"\($0)\"" } ?? ""
      let asker = steps.dropLast().last.map { ", which \($0.typeName) needs" } ?? ""
      return "No initializer is registered for \(type)\(name)\(asker)\(place ?? "")."
    case .stackExhausted:
      return """
        The initializer of \(type)\(place ?? "") would overflow its thread's stack: \(steps.count) initializers wait \
        for it. Make the chain shorter, or resolve it on a thread with a larger stack.
        """
    case .cycle:
      return
        "The initializer of \(type)\(place ?? "") needs its own result: \(Self.circle(of: steps).joined(separator: " → "))."
    case .initializerFailed:
      let reason = underlying.map { String(describing: $0) } ?? "an error"
      return "The initializer of \(type)\(place ?? "") threw \(reason)."
    case .wrongIsolation:
      return
        "The initializer of \(type)\(place ?? "") runs on the main actor, and was asked for from elsewhere."
    case .notReady: return "The value of \(type)\(place ?? "") comes from an async initializer and isn't there."
    default: return notes.first ?? "\(code): \(type)\(place ?? "")."
    }
  }

  /// The ends of a list that is too long to read.
  private static func shortened(_ list: [String]) -> [String] {
    list.count <= 40 ? list : list.prefix(20) + ["(\(list.count - 40) more)"] + list.suffix(20)
  }

  /// The steps up to the first that is there a second time, as one registration served both as far as the steps tell.
  private static func firstLap(of steps: [InjectionStep]) -> [InjectionStep] {
    let end = steps.indices.first { index in
      let step = steps[index]
      return step.registration != nil
        && steps[..<index].contains { $0.registration == step.registration && $0.isLike(step) }
    }
    return end.map { Array(steps[...$0]) } ?? steps
  }

  /// The part of the first lap that goes round.
  private static func circle(of steps: [InjectionStep]) -> [String] {
    guard let last = steps.last, let start = steps.dropLast().lastIndex(where: { $0.isLike(last) }) else {
      return steps.map(\.typeName)
    }
    return steps[start...].map(\.typeName)
  }
}

extension InjectionStep {
  /// Whether nothing that is known of both tells them apart.
  fileprivate func isLike(_ other: InjectionStep) -> Bool {
    func agree(_ mine: String?, _ others: String?) -> Bool { mine == nil || others == nil || mine == others }
    return typeName == other.typeName && agree(key, other.key) && agree(registration, other.registration)
      && agree(property, other.property) && agree(name, other.name)
  }

  fileprivate var line: String? {
    let facts = [
      key.map { "of the key declared at \($0)" }, property.map { "for \($0)" }, declaration.map { "declared at \($0)" },
      // A key's own initializer is where the key is.
      registration.flatMap { $0 == key ? nil : "registered at \($0)" },
    ].compactMap(\.self)
    return facts.isEmpty ? nil : "    \(typeName): \(facts.joined(separator: ", "))"
  }
}

extension InjectionError {
  /// Stops the program with this error, for a read that can't throw.
  ///
  /// The message has everything that ``description`` has, and what was being made on this thread at the time.
  public func stop(at place: SourcePlace) -> Never {
    let frames = ThreadState.current.frames
    // What this thread is making leads to a circle's first step, and is part of it.
    let leading = code == .cycle ? frames.map { InjectionStep(Service($0.type), registration: $0.place) } : []
    let error = InjectionError(code, through: leading + steps, underlying: underlying, notes: box.content.notes)
    var message = error.description
    if !frames.isEmpty {
      message += "\n  Read while making: \(frames.map { TypeName.of($0.type) }.joined(separator: " → "))"
    }
    message += "\n  A property can't throw; `try $property.resolve()` can, and throws this error."
    InitializerRegistry.current.reportFailure(message)
    trap(message, at: place)
  }
}
