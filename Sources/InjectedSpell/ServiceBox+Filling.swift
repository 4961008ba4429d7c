internal import SpellRegistry
internal import Support

// A client that fills no object from a box doesn't link the code in this file.

extension ServiceBox {
  /// Injects the services with matching names into an object's `@Injected` properties.
  ///
  /// A property that has another value gets the service instead, and its hooks are called. A property that already has
  /// the service stays as it is. The properties are found by reflection and read, so the object must be
  /// the caller's own. For a `Sendable` object, such as one of the main actor, name the properties.
  ///
  /// - Returns: The properties that were filled, those without a service, and those whose service has another type.
  @discardableResult
  public func fill<Target: AnyObject>(_ target: Target) -> FillReport {
    fill(target, InjectableProperties.of(target))
  }

  /// Injects the services into the given `@Injected` properties of an object, as `fill(_:)` does for all properties.
  ///
  /// ```swift
  /// box.fill(screen, \.$tracker, \.$clock)
  /// ```
  ///
  /// The compiler checks that the caller has the isolation of the properties.
  ///
  /// - Precondition: Each key path leads to the projection of an `@Injected` property.
  @discardableResult
  public func fill<Target: AnyObject>(
    _ target: Target, _ property: PartialKeyPath<Target>, _ others: PartialKeyPath<Target>...
  ) -> FillReport {
    fill(
      target,
      InjectableProperties.of(target, at: [property] + others).compactMap { wrapper in
        wrapper.name(in: target).map { ($0, wrapper) }
      })
  }

  /// Fills an actor's `@Injected` properties on the actor itself, as `fill(_:)` does for other objects.
  @discardableResult
  public func fill<Target: Actor>(_ target: isolated Target) -> FillReport { fill(target as AnyObject) }

  /// Fills nothing: the isolation of a `Sendable` object isn't known here, and another task may be using the object.
  ///
  /// - Returns: A report whose ``FillReport/note`` gives this reason.
  @available(*, deprecated, message: "name the properties: fill(object, \\.$property)")
  @discardableResult
  @MainActor public func fill<Target: AnyObject & Sendable>(_ target: Target) -> FillReport {
    unfilled(
      Target.self,
      """
      A \(TypeName.of(Target.self)) wasn't filled: it is Sendable, so another task may be using it. Name its properties, so \
      that the compiler checks where they are used: box.fill(object, \\.$property).
      """)
  }

  /// Assigns the services with these names to an object's properties, without wrappers and reflection.
  ///
  /// ```swift
  /// box.fill(controller, ("analytics", \.analytics), ("backup", \.storage))
  /// ```
  ///
  /// The compiler checks the key paths. Each property must have a readable value, because the language reads a property
  /// before it sets it by key path. A property of an Optional type takes a service of its wrapped type.
  ///
  /// - Returns: The names whose services were assigned, those without a service, and those whose service has another
  ///   type.
  @discardableResult
  public func fill<Target: AnyObject, each Service>(
    _ target: Target, _ properties: repeat (String, ReferenceWritableKeyPath<Target, each Service>)
  ) -> FillReport {
    var report = FillReport()
    func set<Property>(_ path: ReferenceWritableKeyPath<Target, Property>, to service: any Sendable) -> Bool {
      guard let fitting = service as? Property else { return false }
      target[keyPath: path] = fitting
      return true
    }
    for (name, path) in repeat each properties { use(name, for: &report) { set(path, to: $0) } }
    return report
  }

  private static let warned = Lock<Set<ObjectIdentifier>>([])

  /// Returns a report that nothing was filled, and prints the reason once for each class.
  private func unfilled(_ type: any AnyObject.Type, _ note: String) -> FillReport {
    let isFirst = Self.warned.withLock { $0.insert(ObjectIdentifier(type)).inserted }
    if isFirst { writeToStandardError("Warning: \(note)\n") }
    return FillReport(note: note)
  }

  private func fill(
    _ target: AnyObject, _ properties: [(name: String, wrapper: any InjectableProperty)]
  ) -> FillReport {
    if properties.isEmpty {
      return unfilled(type(of: target), InjectionError.noInjectableProperties(in: target).description)
    }
    var report = FillReport()
    for (name, wrapper) in properties { use(name, for: &report) { try wrapper.inject($0, in: target) } }
    return report
  }

  /// Injects the service with this name, or the box itself for "serviceBox", and adds the result to the report.
  private func use(_ name: String, for report: inout FillReport, _ inject: (any Sendable) throws -> Bool) {
    let service: (any Sendable)? = name == "serviceBox" ? self : state.withLock { $0.entries[name]?.service }
    // An error means that this thread is already making the property's value, which the property will then have.
    guard let service, let fits = try? inject(service) else { return report.missing.append(name) }
    if fits { report.filled.append(name) } else { report.mismatched.append(name) }
  }
}

extension ServiceBoxClient {
  /// Fills this object's `@Injected` properties where the object may be used, such as on its actor; see ``ServiceBox``.
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { box.fill(self) }
}

extension ServiceBoxClient where Self: Sendable {
  /// Fills this main-actor object's `@Injected` properties; see ``ServiceBox``.
  ///
  /// For a `Sendable` object of another actor, name the properties: `box.fill(self, \.$tracker)`.
  ///
  /// - Precondition: The object belongs to the main actor.
  @discardableResult
  @MainActor public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport {
    box.fill(self as AnyObject)
  }
}

extension ServiceBoxClient where Self: Actor {
  /// Fills this actor's `@Injected` properties; see ``ServiceBox``.
  ///
  /// - Precondition: The caller runs on the actor.
  @discardableResult
  public func fillWithDependencies(from box: ServiceBox = .default) -> FillReport { assumeIsolated { box.fill($0) } }
}
