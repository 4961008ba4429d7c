extension InjectionError: CustomStringConvertible {
  /// What went wrong, for whom, the way there with every registration's file and line, and what to do.
  public var description: String {
    let steps = code == .cycle ? Self.firstLap(of: steps) : steps
    var lines = [headline(of: steps)]
    if steps.count > 1 || steps.contains(where: { $0.registration != nil || $0.key != nil }) {
      lines.append("  Path: \(Self.shortened(steps.map(\.typeName)).joined(separator: " → "))")
      lines += Self.shortened(steps.compactMap(\.line))
    }
    // Where the headline is a note it has been said.
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

  /// Whose initializer asked for the type at fault.
  private var asker: String {
    guard steps.count > 1 else { return "" }
    let asker = steps[steps.count - 2]
    return ", which \(asker.typeName) needs"
  }

  /// The steps up to the first that is there a second time.
  private static func firstLap(of steps: [InjectionStep]) -> [InjectionStep] {
    for (index, step) in steps.enumerated() where steps[..<index].contains(where: { $0.isSame(as: step) }) {
      return Array(steps[...index])
    }
    return steps
  }

  /// The part of the first lap that goes round.
  private static func circle(of steps: [InjectionStep]) -> [String] {
    guard let last = steps.last, let start = steps.dropLast().lastIndex(where: { $0.typeName == last.typeName }) else {
      return steps.map(\.typeName)
    }
    return steps[start...].map(\.typeName)
  }
}

extension InjectionStep {
  /// Whether both are requests that one registration served, as far as the steps tell.
  fileprivate func isSame(as other: InjectionStep) -> Bool {
    typeName == other.typeName && registration != nil && registration == other.registration
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
  /// Stops the program: what a property that was read, and so cannot throw, does with an error.
  ///
  /// The message has everything that ``description`` has, and what was being made on this thread at the time.
  public func stop(at place: SourcePlace) -> Never {
    let frames = ThreadState.current.frames
    let types = frames.map(\.type)
    let notes = notes
    // What this thread is making leads to a circle's first step, and is part of it.
    let leading =
      code == .cycle
      ? frames.map { frame in
        InjectionStep(frame.type, registration: frame.registration?.takeUnretainedValue().place.description)
      } : []
    var message = InjectionError(code, through: leading + steps, underlying: underlying, notes: { notes }).description
    if !types.isEmpty {
      message += "\n  Read while making: \(types.map { TypeName.of($0) }.joined(separator: " → "))"
    }
    message += "\n  A property can't throw; `try $property.resolve()` can, and throws this error."
    InitializerRegistry.current.reportFailure(message)
    trap(message, at: place)
  }
}
