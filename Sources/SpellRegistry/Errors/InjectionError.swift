/// The reason that a value couldn't be made or injected, with the whole path to it.
///
/// An error begins at the fault and gains a step at every initializer that it passes on its way out,
/// so the path is complete wherever the error is caught. It is the same in debug and release builds.
///
/// ```swift
/// do {
///   _ = try registry.resolve(Checkout.self)
/// } catch {
///   print(error.path)  // ["Checkout", "Network"]
///   print(error)       // who asked, for what, and what to write
/// }
/// ```
public struct InjectionError: Error, Sendable {
  /// The kind of fault.
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
    /// The task that awaited the value was cancelled.
    public static let cancelled = Code(description: "cancelled")
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
    /// Each property gets a value of its own, of a type whose values are to be shared.
    public static let notShared = Code(description: "notShared")
  }

  /// Everything behind one reference, so that throwing costs no more than returning.
  private final class Details: Sendable {
    typealias Content = (
      code: Code, steps: [InjectionStep], underlying: (any Error)?, notes: [String], isWhole: Bool
    )
    let content: Content
    init(_ content: Content) { self.content = content }
  }
  private let details: Details

  /// - Parameter advice: What to write.
  package init(
    _ code: Code, through steps: [InjectionStep], underlying: (any Error)? = nil, advice: String? = nil
  ) {
    self.init(code, steps, underlying, advice.map { [$0] } ?? [])
  }

  private init(
    _ code: Code, _ steps: [InjectionStep], _ underlying: (any Error)?, _ notes: [String], isWhole: Bool = false
  ) {
    details = Details((code, steps, underlying, notes, isWhole))
  }

  /// The kind of fault.
  public var code: Code { details.content.code }

  /// Type names, from the first asked for to the type at fault; a cycle ends where it began.
  public var path: [String] { steps.map(\.typeName) }

  /// The error that the initializer threw, for ``Code/initializerFailed``.
  public var underlying: (any Error)? { details.content.underlying }

  package var steps: [InjectionStep] { details.content.steps }
  package var notes: [String] { details.content.notes }

  /// The same error as the request for `step` throws it, which met it on the way.
  package func asked(by step: InjectionStep) -> InjectionError {
    details.content.isWhole ? self : InjectionError(code, [step] + steps, underlying, notes)
  }

  /// The same error, which gains no step on its way: one lap of a cycle says it all.
  func whole() -> InjectionError { InjectionError(code, steps, underlying, notes, isWhole: true) }

  /// The same error with more notes.
  package func noting(_ notes: String...) -> InjectionError {
    InjectionError(code, steps, underlying, self.notes + notes, isWhole: details.content.isWhole)
  }

  /// Returns the error for one that an initializer threw: the same with one more step, or `.initializerFailed`.
  static func wrapping(_ error: any Error, thrownBy step: InjectionStep? = nil) -> InjectionError {
    guard let error = error as? InjectionError else {
      return InjectionError(.initializerFailed, through: [step].compactMap(\.self), underlying: error)
    }
    return step.map { error.asked(by: $0) } ?? error
  }

  /// The error of completions that begin each other without end.
  static func endless(_ records: [RegistrationRecord]) -> InjectionError {
    var seen: Set<ObjectIdentifier> = []
    let steps = records.prefix { seen.insert(ObjectIdentifier($0)).inserted }.map(\.step)
    return InjectionError(
      .cycle, through: steps + steps.prefix(1),
      advice: """
        Completions begin each other without end: each makes a new value, whose completion makes another. Give the values a \
        scope that shares them, such as .graph or .singleton.
        """
    ).whole()
  }
}

extension InjectionError: CustomStringConvertible {
  /// The fault, its property, the path to it with every registration's file and line, and the remedy.
  public var description: String {
    var lines = [headline]
    if steps.count > 1 || steps.contains(where: \.isRegistered) {
      if code != .cycle || cycle.count < cycle.endIndex {
        lines.append("  Path: \(Self.shortened(Array(path[..<cycle.endIndex])).joined(separator: " → "))")
      }
      let facts = steps[..<cycle.endIndex].compactMap(\.line)
      // A cycle ends with the step that it began with.
      lines += Self.shortened(code == .cycle && facts.last == facts.first ? facts.dropLast() : facts)
    }
    // If the headline is a note, it has been said.
    lines += (notes + [cure].compactMap(\.self)).filter { $0 != lines[0] }.map { "  \($0)" }
    return lines.joined(separator: "\n")
  }

  private var headline: String {
    let culprit = cycle.last
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
      let names = Self.shortened(cycle.map(\.typeName)).joined(separator: " → ")
      return "The initializer of \(type)\(place ?? "") needs its own result: \(names)."
    case .initializerFailed:
      let reason = underlying.map { String(describing: $0) } ?? "an error"
      return "The initializer of \(type)\(place ?? "") threw \(reason)."
    case .wrongIsolation:
      return "The value of \(type)\(place ?? "") belongs to the main actor, and was asked for from elsewhere."
    case .notReady: return "The value of \(type)\(place ?? "") comes from an async initializer and isn't there."
    case .cancelled: return "The task that awaited \(type)\(place ?? "") was cancelled."
    default: return notes.first ?? "\(code): \(type)\(place ?? "")."
    }
  }

  /// The remedy for an error whose notes don't give one.
  private var cure: String? {
    guard notes.isEmpty, let step = cycle.last else { return nil }
    return switch code {
    case .cycle where step.property != nil:
      "Read \(step.property ?? "it") after `init`, not in it. Or give it in .onCompletion { value, resolver in … }."
    case .cycle:
      """
      Let \(cycle.dropLast().last?.typeName ?? "it") ask for it after `init`, by a constant: let later = \(step.constant()), \
      later.value. Or give it in .onCompletion { value, resolver in … }.
      """
    case .wrongIsolation: "Ask for it on the main actor, or await it: \(steps[0].callThatAwaits)."
    case .initializerFailed:
      """
      Nothing was kept, so the next request runs it again. Correct it, or handle the error: \
      do { try \(steps[0].call) } catch { … }.
      """
    default: nil
    }
  }

  /// The part of the path that repeats, for a cycle; else the whole path.
  private var cycle: ArraySlice<InjectionStep> {
    for (end, step) in steps.enumerated() where code == .cycle {
      if let start = steps[..<end].lastIndex(where: { $0.isLike(step) }) { return steps[start...end] }
    }
    return steps[...]
  }

  /// The ends of a list that is too long to read.
  private static func shortened(_ list: [String]) -> [String] {
    list.count <= 40 ? list : list.prefix(20) + ["(\(list.count - 40) more)"] + list.suffix(20)
  }
}

extension InjectionError {
  /// Stops the program with this error, for a read that can't throw.
  ///
  /// The message has everything that ``description`` has, and what was being made on this thread at the time.
  @usableFromInline package func stop(at place: SourcePlace) -> Never {
    let frames = CurrentThread.current.making.map(\.step)
    // A cycle ends at what is being made further out, by which an error that is thrown would pass.
    var message = code == .cycle ? frames.reversed().reduce(self) { $0.asked(by: $1) }.description : description
    if !frames.isEmpty && code != .cycle {
      message += "\n  Read while making: \(frames.map(\.typeName).joined(separator: " → "))"
    }
    let name = steps.first { $0.declaration == place.description }?.propertyName ?? "property"
    message += "\n  A property can't throw; `try $\(name).resolve()` can, and throws this error."
    InitializerRegistry.current.reportFailure(message)
    trap(message, at: place)
  }
}
