internal import Support
public import SpellRegistry
public import Testing

/// Records what a registry is asked for, to assert it.
///
/// ```swift
/// let recorder = InjectionRecorder()
/// _ = Page().tracker
/// #expect(recorder.count(of: (any Tracker).self) == 1)
/// ```
///
/// It hears of each injection once: of each property's first read (of each read, where nothing is kept) and of each
/// call of `resolve`, in whatever thread, after the value is there and before the reader has it. What one value needs
/// in turn is an injection of its own, and comes first.
///
/// It hears of what its registry is asked for, also where a parent has the registration. What a parent keeps for
/// everybody, such as a singleton, asks the parent for its own dependencies: of those only a recorder hears that
/// includes parents. It hears nothing of what a child is asked for, nor of a read that found its value there already.
///
/// It records types and names, and keeps neither values nor containers alive. Recording ends with the recorder. Safe to
/// use from any thread.
public final class InjectionRecorder: Sendable {
  private struct Recorded: Sendable {
    var injections: [Injection] = []
    var values: [KeptValue] = []
  }

  /// `@unchecked Sendable`: it leaves the recorder only as a `Sendable` type, and is used for nothing else.
  private struct KeptValue: @unchecked Sendable { let value: Any }

  private let recorded = Lock(Recorded())
  private let keepsValues: Bool

  /// Records what is injected through a registry from now on.
  ///
  /// - Parameters:
  ///   - registry: The registry to listen to; the test's own, where left out.
  ///   - includingParents: Whether to listen to its parents too. What one of them is asked for by somebody else is then
  ///     recorded as well.
  ///   - keepingValues: Whether to keep the values, for ``values(of:sourceLocation:)``, until ``reset()`` or the
  ///     recorder's end; with them lives whatever they hold, which may be their container.
  public init(
    _ registry: InitializerRegistry = .current, includingParents: Bool = false, keepingValues: Bool = false
  ) {
    keepsValues = keepingValues
    for registry in sequence(first: registry, next: { includingParents ? $0.parent : nil }) {
      RecorderHub.of(registry).add(self)
    }
  }

  /// Everything that was injected, in order.
  public var injections: [Injection] { recorded.withLock(\.injections) }

  /// How many injections there were.
  public var count: Int { recorded.withLock(\.injections.count) }

  /// The injections that were asked for as this type, or whose value is of it.
  public func injections<Value>(of type: Value.Type) -> [Injection] { injections.filter { $0.isOf(type) } }

  /// The injections into objects of this class and its subclasses, by property name where one is given.
  public func injections<Container: AnyObject>(into type: Container.Type, named name: String? = nil) -> [Injection] {
    injections.filter { $0.isInto(type) && (name == nil || $0.propertyName == name) }
  }

  /// How many injections were asked for as this type, or gave a value of it.
  public func count<Value>(of type: Value.Type) -> Int { injections(of: type).count }

  /// The values of this type that were injected, in order, where the recorder keeps them.
  ///
  /// A recorder that doesn't fails the test.
  ///
  /// - Parameters:
  ///   - type: A type, or a protocol that the values conform to.
  ///   - sourceLocation: Where to show the failure.
  public func values<Value: Sendable>(
    of type: Value.Type, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [Value] {
    guard keepsValues else {
      Issue.record(
        "This recorder keeps no values; make it with InjectionRecorder(keepingValues: true).",
        sourceLocation: sourceLocation)
      return []
    }
    return recorded.withLock(\.values).compactMap { $0.value as? Value }
  }

  /// Forgets what was recorded, and goes on recording.
  public func reset() {
    // What was kept may do anything in its deinitializer, so it goes after the lock.
    let dropped = recorded.withLock { recorded in
      defer { recorded = Recorded() }
      return recorded
    }
    withExtendedLifetime(dropped) {}
  }

  func record(_ value: Any, at point: InjectionPoint) {
    // Found before the lock is taken: reflection may run the container's own code.
    let (valueType, name) = (contentType(of: value), point.propertyName)
    let kept = keepsValues ? KeptValue(value: value) : nil
    recorded.withLock { recorded in
      recorded.injections.append(
        Injection(
          order: recorded.injections.count + 1, valueType: valueType, propertyType: point.propertyType,
          containerType: point.containerType, propertyName: name))
      if let kept { recorded.values.append(kept) }
    }
  }

  /// The type of the value or, of an Optional, of what is in it.
  private func contentType(of value: Any) -> any Any.Type {
    guard let optional = value as? any OptionalValue, let content = optional.content else {
      return type(of: value)
    }
    return contentType(of: content)
  }
}

extension InjectionRecorder: CustomStringConvertible, CustomTestStringConvertible {
  /// Every injection in a line of its own.
  public var description: String {
    let injections = injections
    if injections.isEmpty { return "no injections" }
    return injections.map { "\($0.order). \($0)" }.joined(separator: "\n")
  }

  /// The injections, as a failed expectation shows them.
  public var testDescription: String { description }
}
