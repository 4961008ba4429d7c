public import SpellRegistry
internal import Support
public import Testing

/// A recorder of a registry's injections, for a test to check.
///
/// ```swift
/// let recorder = InjectionRecorder()
/// _ = Page().tracker
/// #expect(recorder.count(of: (any Tracker).self) == 1)
/// ```
///
/// An injection is the first read of a property (or each read, if the property keeps nothing) or a call of `resolve`,
/// on any thread. The recorder records each injection once, after the value exists and before the caller gets it.
/// Each dependency that an initializer requests is a separate injection, and is recorded before the value itself. A
/// call of `resolve` that returns a factory isn't recorded, but each call of that factory is. A request isn't recorded
/// if it gets nil because nothing is registered. A request by an `onInjection` hook of a registration or registry isn't
/// recorded either.
///
/// The recorder records each request to its registry, even if a parent registry has the registration. A value that a
/// parent keeps, such as a singleton, requests its own dependencies from the parent. Only a recorder that includes
/// parents records these requests. Requests to a child aren't recorded, and neither are later reads of a property that
/// keeps its value.
///
/// By default, a recorder records only types and names, and keeps no value and no enclosing object alive. Recording
/// ends when the recorder is released. A recorder is safe to use from any thread.
public final class InjectionRecorder: Sendable {
  private struct Recorded: Sendable {
    var injections: [Injection] = []
    var values: [RecordedValue] = []
  }

  /// `@unchecked Sendable`: the lock `recorded` guards the value, and the recorder returns the value only as a
  /// `Sendable` type.
  private struct RecordedValue: @unchecked Sendable { let value: Any }

  private let recorded = Lock(Recorded())
  private let keepsValues: Bool

  /// Creates a recorder of the injections that a registry makes after this call.
  ///
  /// - Parameters:
  ///   - registry: The registry to record. The default is the current registry, usually the test's own.
  ///   - includingParents: Whether to also record all requests to the registry's parents.
  ///   - keepingValues: Whether to keep the values for ``values(of:sourceLocation:)``, until ``reset()`` is called or
  ///     the recorder is released. A kept value keeps alive the objects that it refers to, such as its container.
  public init(
    _ registry: InitializerRegistry = .current, includingParents: Bool = false, keepingValues: Bool = false
  ) {
    keepsValues = keepingValues
    for registry in sequence(first: registry, next: { includingParents ? $0.parent : nil }) {
      RecorderHub.of(registry).add(self)
    }
  }

  /// The recorded injections, in order.
  public var injections: [Injection] { recorded.withLock(\.injections) }

  /// The number of recorded injections.
  public var count: Int { recorded.withLock(\.injections.count) }

  /// Returns the injections for which a type was requested, or whose value is of that type; see ``Injection/isOf(_:)``.
  public func injections<Value>(of type: Value.Type) -> [Injection] { injections.filter { $0.isOf(type) } }

  /// Returns the injections into objects of a class and its subclasses.
  ///
  /// If `name` isn't nil, the result has only the injections whose ``Injection/propertyName`` is `name`.
  public func injections<Container: AnyObject>(into type: Container.Type, named name: String? = nil) -> [Injection] {
    injections.filter { $0.isInto(type) && (name == nil || $0.propertyName == name) }
  }

  /// Returns the number of injections for which a type was requested, or whose value is of that type; see
  /// ``Injection/isOf(_:)``.
  public func count<Value>(of type: Value.Type) -> Int { injections(of: type).count }

  /// Returns the injected values of a type, in order.
  ///
  /// If the recorder doesn't keep values, the call fails the test.
  ///
  /// - Parameters:
  ///   - type: A type, or a protocol that the values conform to.
  ///   - sourceLocation: The source location of the failure.
  public func values<Value: Sendable>(
    of type: Value.Type, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [Value] {
    guard keepsValues else {
      Issue.report(
        "This recorder keeps no values; make it with InjectionRecorder(keepingValues: true).", at: sourceLocation)
      return []
    }
    return recorded.withLock(\.values).compactMap { $0.value as? Value }
  }

  /// Drops the recorded injections and values, and continues recording.
  public func reset() {
    // The deinitializers of kept values may run any code, so the values are released with no lock held.
    let dropped = recorded.withLock { recorded in
      defer { recorded = Recorded() }
      return recorded
    }
    withExtendedLifetime(dropped) {}
  }

  func record(_ value: Any, at point: InjectionPoint) {
    // The name is found before the lock is taken, because reflection may run the container's own code.
    let (valueType, name) = (contentType(of: value), point.propertyName)
    let kept = keepsValues ? RecordedValue(value: value) : nil
    recorded.withLock { recorded in
      recorded.injections.append(
        Injection(
          order: recorded.injections.count + 1, valueType: valueType, propertyType: point.propertyType,
          containerType: point.containerType, propertyName: name))
      if let kept { recorded.values.append(kept) }
    }
  }

  /// Returns the type of a value or, for an Optional that isn't nil, the type of the wrapped value.
  ///
  /// For nested Optionals, the innermost wrapped value counts.
  private func contentType(of value: Any) -> any Any.Type {
    guard let optional = value as? any OptionalValue, let content = optional.content else {
      return type(of: value)
    }
    return contentType(of: content)
  }
}

extension InjectionRecorder: CustomStringConvertible, CustomTestStringConvertible {
  /// The recorded injections, one on each line.
  public var description: String {
    let injections = injections
    if injections.isEmpty { return "no injections" }
    return injections.map { "\($0.order). \($0)" }.joined(separator: "\n")
  }

  /// The recorded injections, as a failed expectation shows them.
  public var testDescription: String { description }
}

// MARK: Injections

/// An injection that an ``InjectionRecorder`` has recorded.
public struct Injection: Sendable {
  /// The position among the recorder's injections, counted from 1.
  public let order: Int
  /// The type of the value, such as `FakeTracker`.
  public let valueType: any Any.Type
  /// The requested type, which is the property's type or the argument of `resolve`.
  public let propertyType: any Any.Type
  /// The class of the enclosing object; nil if there is none, as for a struct, a local variable, or a plain `resolve`.
  public let containerType: (any AnyObject.Type)?
  /// The name with which the value was requested; nil if the request has no known name.
  ///
  /// This is the name that the declaration or the call of `resolve` gives, as in `@Injected("backup")`. If neither
  /// gives a name, this is the property's own name.
  public let propertyName: String?

  /// Returns whether `type` or an Optional of it was requested, or the value is an instance of `type` or of a subclass.
  ///
  /// For example, `(any Tracker).self` may be a property's declared type, and `FakeTracker.self` the value's type. If
  /// `type` is a protocol that wasn't requested, the result is false even for a value that conforms to it.
  public func isOf<Value>(_ type: Value.Type) -> Bool {
    propertyType == type || propertyType == Value?.self || valueType is Value.Type
  }

  /// Returns whether the enclosing object is an instance of the class `type` or of one of its subclasses.
  public func isInto<Container: AnyObject>(_ type: Container.Type) -> Bool { containerType is Container.Type }
}

extension Injection: CustomStringConvertible {
  /// The injection as text, such as `FakeTracker into Page.tracker: any Tracker`.
  public var description: String {
    let (value, property) = (TypeName.of(valueType), TypeName.of(propertyType))
    let asked = value == property ? "" : ": \(property)"
    let place = [containerType.map { TypeName.of($0) }, propertyName].compactMap(\.self).joined(separator: ".")
    if place.isEmpty { return value + asked }
    return "\(value) \(containerType == nil ? "as" : "into") \(place)\(asked)"
  }
}

// MARK: The recorders of a registry

/// The recorders of a registry, which share a single hook.
///
/// A registry keeps its hooks for as long as it exists. With a hook for each recorder, a registry that outlives many
/// recorders would call more and more useless hooks.
package final class RecorderHub: Sendable {
  private typealias Entry = (registry: WeakReference, hub: RecorderHub)

  /// The hub of each registry, by the registry's address.
  ///
  /// An entry's registry may no longer exist, and another registry may have its address.
  private static let hubs = Lock<[ObjectIdentifier: Entry]>([:])

  private let recorders = Lock<[WeakReference]>([])

  /// Returns the hub of a registry.
  ///
  /// The first call for a registry creates its hub, and adds the hook that passes each injection to the hub.
  package static func of(_ registry: InitializerRegistry) -> RecorderHub {
    // `alive` retains the other hubs' registries until the lock is free, because a registry's deinitializer may run any
    // code.
    let (hub, alive) = hubs.withLock { hubs -> (RecorderHub, [AnyObject]) in
      if let entry = hubs[ObjectIdentifier(registry)], entry.registry.object === registry { return (entry.hub, []) }
      let alive = hubs.compactMapValues(\.registry.object)
      hubs = hubs.filter { alive[$0.key] != nil }
      let hub = RecorderHub()
      registry.onOwnInjection { value, point in hub.record(value, at: point) }
      hubs[ObjectIdentifier(registry)] = (WeakReference(registry), hub)
      return (hub, Array(alive.values))
    }
    withExtendedLifetime(alive) {}
    return hub
  }

  func add(_ recorder: InjectionRecorder) {
    // `alive` holds the recorders until the lock is released, because the release of their values may run any code.
    let alive = recorders.withLock { recorders in
      let alive = recorders.compactMap(\.object)
      recorders = alive.map { WeakReference($0) } + [WeakReference(recorder)]
      return alive
    }
    withExtendedLifetime(alive) {}
  }

  /// The number of recorders that are alive, and the number of all recorders in the hub's list.
  package var counts: (alive: Int, remembered: Int) {
    let (alive, count) = recorders.withLock { ($0.compactMap(\.object), $0.count) }
    return (alive.count, count)
  }

  private func record(_ value: Any, at point: InjectionPoint) {
    for recorder in recorders.withLock(\.self) { (recorder.object as? InjectionRecorder)?.record(value, at: point) }
  }
}
