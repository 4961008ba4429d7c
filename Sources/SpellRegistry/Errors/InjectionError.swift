/// The reason why a value couldn't be made or injected, with the whole path of requests to the fault.
///
/// An error begins at the fault and gains a step in every initializer that rethrows it. Where the error is caught, its
/// path lists all requests from that place to the fault. The path is the same in debug and release builds.
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
  /// The kind of fault that an ``InjectionError`` reports.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name as in source code, such as `notRegistered`.
    public let description: String

    package init(description: String) { self.description = description }

    /// No registration serves the request, or the registry to ask no longer exists.
    ///
    /// A registration serves a request only if its type or key, its name and its class of containers all match. A
    /// property or factory may exist for longer than its registry.
    public static let notRegistered = Code(description: "notRegistered")
    /// An initializer requested its own result, directly or through other initializers.
    ///
    /// The code also applies if completion hooks cause each other to run without end.
    public static let cycle = Code(description: "cycle")
    /// An initializer threw an error, which is ``InjectionError/underlying``.
    public static let initializerFailed = Code(description: "initializerFailed")
    /// A value that only the main actor can make was requested from elsewhere.
    public static let wrongIsolation = Code(description: "wrongIsolation")
    /// The value of an async initializer was requested without `await`, but isn't ready.
    ///
    /// Either `resolveAsync` hasn't made the value yet, or the scope doesn't keep the value.
    public static let notReady = Code(description: "notReady")
    /// The task that awaited the value was canceled.
    public static let cancelled = Code(description: "cancelled")
    /// Too little of the thread's stack is left to make the value, because the chain of initializers is too long or
    /// endless.
    public static let stackExhausted = Code(description: "stackExhausted")
    /// The object has no injectable property that reflection can see.
    public static let noInjectableProperties = Code(description: "noInjectableProperties")
  }

  /// The content of an error, stored behind one reference, which makes an error as small as a pointer.
  private final class Details: Sendable {
    typealias Content = (
      code: Code, steps: [InjectionStep], underlying: (any Error)?, notes: [String], isWhole: Bool
    )
    let content: Content
    init(_ content: Content) { self.content = content }
  }
  private let details: Details

  /// Creates an error with the steps of its path, from the outermost request to the fault.
  ///
  /// - Parameter advice: Sentences that tell the developer what to write; nil for none.
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

  /// The kind of fault, by which callers can tell errors apart.
  public var code: Code { details.content.code }

  /// The names of the requested types, from the outermost request to the fault.
  ///
  /// The path of a cycle ends with the repetition of the type with which the cycle begins. Some cycles are found only
  /// because the thread's stack is nearly full, or because too many completion hooks have run. The path of such a cycle
  /// is one round of the cycle, without earlier requests.
  public var path: [String] { steps.map(\.typeName) }

  /// The error that the initializer threw, if the code is ``Code/initializerFailed``.
  ///
  /// For the code ``Code/cancelled``, this is a `CancellationError`. For other codes, it is nil.
  public var underlying: (any Error)? { details.content.underlying }

  package var steps: [InjectionStep] { details.content.steps }
  package var notes: [String] { details.content.notes }

  /// Returns a copy of the error with `step`, the request that caused the path's first step, in front of the path.
  ///
  /// An error that `whole()` has returned gains no step, and is returned unchanged.
  package func asked(by step: InjectionStep) -> InjectionError {
    details.content.isWhole ? self : InjectionError(code, [step] + steps, underlying, notes)
  }

  /// Returns a copy of the error to which `asked(by:)` adds no steps.
  ///
  /// A `.cycle` error whose path already contains the cycle once needs no more steps.
  func whole() -> InjectionError { InjectionError(code, steps, underlying, notes, isWhole: true) }

  /// Returns a copy of a `.cycle` error whose path ends where the cycle's first step is repeated.
  ///
  /// An error of any other code is returned unchanged.
  ///
  /// If several requests await the same ``AsyncRun``, a cycle through that run is found more than once. The original
  /// error's path then continues after the repeated step.
  func inOneLap() -> InjectionError {
    guard code == .cycle else { return self }
    let lap = Array(steps[..<cycle.endIndex])
    return InjectionError(code, lap, underlying, notes, isWhole: details.content.isWhole)
  }

  /// Returns a copy of the error with more notes, which are sentences at the end of the error's description.
  package func noting(_ notes: String...) -> InjectionError {
    InjectionError(code, steps, underlying, self.notes + notes, isWhole: details.content.isWhole)
  }

  /// Returns the `InjectionError` for an error that an initializer threw.
  ///
  /// An `InjectionError` is returned with `step` in front of its path. For any other error, the result is an
  /// `.initializerFailed` error that has `error` as its underlying error and `step` as its path.
  static func wrapping(_ error: any Error, thrownBy step: InjectionStep? = nil) -> InjectionError {
    guard let error = error as? InjectionError else {
      return InjectionError(.initializerFailed, through: [step].compactMap(\.self), underlying: error)
    }
    return step.map { error.asked(by: $0) } ?? error
  }

  /// Returns the `.cycle` error for completion hooks that cause each other to run without end.
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
  /// A message with the fault, the property that made the request, the chain of requests, and a remedy.
  ///
  /// The chain of requests is the error's ``path``, with the file and line of each known registration. The middle part
  /// of a long path is left out.
  public var description: String {
    var lines = [headline]
    if steps.count > 1 || steps.contains(where: \.isRegistered) {
      if code != .cycle || cycle.count < cycle.endIndex {
        lines.append("  Path: \(Self.shortened(Array(path[..<cycle.endIndex])).joined(separator: " → "))")
      }
      var facts = steps[..<cycle.endIndex].compactMap(\.line)
      // The last step of a cycle repeats an earlier step, which is listed already.
      if code == .cycle, let last = facts.last, facts.dropLast().contains(last) { facts.removeLast() }
      lines += Self.shortened(facts)
    }
    // A note that is already the headline isn't repeated.
    lines += (notes + [cure].compactMap(\.self)).filter { $0 != lines[0] }.map { "  \($0)" }
    return lines.joined(separator: "\n")
  }

  private var headline: String {
    let culprit = cycle.last
    let type = culprit?.typeName ?? "?"
    let askers = steps.filter { code != .cycle || $0.typeName == type }
    let asker = askers.last { $0.property != nil } ?? askers.last { $0.declaration != nil }
    let place = (asker?.property.map { " for \($0)" } ?? "") + (asker?.declaration.map { " (\($0))" } ?? "")
    let subject = type + place
    switch code {
    case .notRegistered:
      let name = culprit?.name.map { " named \"\($0)\"" } ?? ""
      let asker = steps.dropLast().last.map { ", which \($0.typeName) needs" } ?? ""
      return "No initializer is registered for \(type)\(name)\(asker)\(place)."
    case .stackExhausted:
      return """
        The initializer of \(subject) would overflow its thread's stack: \(steps.count) initializers wait \
        for it. Make the chain shorter, or resolve it on a thread with a larger stack.
        """
    case .cycle:
      let names = Self.shortened(cycle.map(\.typeName)).joined(separator: " → ")
      return "The initializer of \(subject) needs its own result: \(names)."
    case .initializerFailed:
      let reason = underlying.map { String(describing: $0) } ?? "an error"
      return "The initializer of \(subject) threw \(reason)\(reason.hasSuffix(".") ? "" : ".")"
    case .wrongIsolation:
      return "The value of \(subject) belongs to the main actor, and was asked for from elsewhere."
    case .notReady: return "The value of \(subject) comes from an async initializer and isn't there."
    case .cancelled: return "The task that awaited \(subject) was cancelled."
    default: return notes.first ?? "\(code): \(subject)."
    }
  }

  /// The remedy for an error without notes; nil if the error has notes or no known remedy.
  private var cure: String? {
    guard notes.isEmpty, let step = cycle.last else { return nil }
    return switch code {
    case .cycle where !cycle.contains(where: \.isRegistered):
      "An expression can't read the value that it makes, directly or through others. Remove that read."
    case .cycle where step.property != nil:
      "Read \(step.property ?? "it") after `init`, not in it. Or give it in .onCompletion { value, resolver in … }."
    case .cycle where cycle.count == 2:
      "To wrap what was registered before, write \(step.callThatDecorates), and use `inner`."
    case .cycle:
      """
      Let \(cycle.dropLast().last?.typeName ?? "it") ask for it after `init`, by a constant: let later = \(step.constant()), \
      later.value. Or give it in .onCompletion { value, resolver in … }.
      """
    case .wrongIsolation: steps[0].adviceToReachMainActor
    case .initializerFailed:
      """
      Nothing was kept, so the next request runs it again. Correct it, or handle the error: \
      do { try \(steps[0].call) } catch { … }.
      """
    default: nil
    }
  }

  /// The steps of a cycle, from its first step to the first repetition of that step.
  ///
  /// These are all steps of the error if no step is repeated, or if the code isn't `.cycle`.
  private var cycle: ArraySlice<InjectionStep> {
    for (end, step) in steps.enumerated() where code == .cycle {
      if let start = steps[..<end].lastIndex(where: { $0.isLike(step) }) { return steps[start...end] }
    }
    return steps[...]
  }

  /// Returns the list, but with a count in place of the middle elements if there are more than 40 elements.
  private static func shortened(_ list: [String]) -> [String] {
    list.count <= 40 ? list : list.prefix(20) + ["(\(list.count - 40) more)"] + list.suffix(20)
  }
}

extension InjectionError {
  /// Stops the program with this error, for a read that can't throw.
  ///
  /// The message consists of ``description``, the values that this thread was making, and a hint to call `resolve()`.
  /// For a cycle, these values are steps of the path in the description.
  ///
  /// - Parameter canResolve: Whether the property has a `resolve()` function. If not, the message lacks the hint.
  @usableFromInline package func stop(at place: SourcePlace, canResolve: Bool = true) -> Never {
    let frames = CurrentThread.current.steps
    // A thrown error gets a step from each initializer that it passes. This error isn't thrown, so the steps are added
    // now, because a cycle may begin in an outer initializer.
    var message = code == .cycle ? frames.reversed().reduce(self) { $0.asked(by: $1) }.description : description
    if !frames.isEmpty && code != .cycle {
      message += "\n  Read while making: \(frames.map(\.typeName).joined(separator: " → "))"
    }
    let name = steps.first { $0.isDeclared(at: place) }?.propertyName
    let call = name.map { "`try $\($0).resolve()`" } ?? "`try $property.resolve()`, or `try constant.resolve()`,"
    if canResolve { message += "\n  A property can't throw; \(call) can, and throws this error." }
    trap(message, at: place)
  }
}
