internal import Support
internal import Synchronization

extension InitializerRegistry {
  /// Registers an async closure that creates values of a type.
  ///
  /// ```swift
  /// registry.registerAsync(Database.self, scope: .singleton) { _ in try await Database.open() }
  /// let database = try await registry.resolveAsync(Database.self)
  /// ```
  ///
  /// A synchronous read throws an error of code `.notReady` until ``resolveAsync(_:named:)`` has returned, and gets the
  /// value after that, for as long as the scope keeps it: with ``Scope/unique`` or ``Scope/graph`` nothing is kept.
  ///
  /// - Parameters:
  ///   - type: The type of the properties that get the value.
  ///   - name: The properties that get it, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it.
  ///   - initializer: Creates the value.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func registerAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: PropertyName? = nil, scope: Scope<Value> = .unique,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> Registration<Value> {
    add(.async(initializer), named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an async closure that creates the values of a declared key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The properties that get the value, by name; nil for any.
  ///   - scope: How long the value is kept, and who shares it; nil for the key's own scope.
  ///   - initializer: Creates the value.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  /// - Returns: The registration, to add hooks to or to withdraw.
  @discardableResult
  public func registerAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: PropertyName? = nil, scope: Scope<Value>? = nil,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> Registration<Value> {
    add(.async(initializer), for: key, named: name, scope: scope, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Registers an async closure in place of the registration with the same key, which comes back when this one is
  /// withdrawn.
  package func substituteAsync<Value: Sendable>(
    _ type: Value.Type, scope: Scope<Value>, at place: SourcePlace,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> Registration<Value> {
    add(.async(initializer), scope: scope, at: place, by: substitute)
  }

  /// Returns a value, and awaits it if its initializer is async or runs on the main actor.
  ///
  /// However many tasks await a value that its scope shares, one run makes it. If the run fails, all tasks that await it get the
  /// error, and the next request begins another run. If one waiting task is cancelled, the run continues for the others.
  ///
  /// If something that the value needs can be made only on the main actor, the value is made there, with what it needs.
  /// Its initializer may run twice: first until it asks for the main-actor value, then again on the main actor.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - name: The name to ask with.
  /// - Throws: As ``resolve(_:named:in:)``; `.cycle` also if initializers of several tasks await each other.
  public func resolveAsync<Value: Sendable>(
    _ type: Value.Type = Value.self, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Service(Value.self), named: name)
  }

  /// Returns the value of a declared key, and awaits it if its initializer is async or runs on the main actor; see
  /// ``resolveAsync(_:named:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - name: The name to ask with.
  /// - Throws: As ``resolve(_:named:in:)``; `.cycle` also if initializers of several tasks await each other.
  public func resolveAsync<Value: Sendable>(
    _ key: InjectionKey<Value>, named name: String? = nil
  ) async throws(InjectionError) -> Value {
    try await resolveAsync(Service(Value.self, key: key), named: name)
  }

  private func resolveAsync<Value: Sendable>(
    _ service: Service, named name: String?
  ) async throws(InjectionError) -> Value {
    func point() -> InjectionPoint { InjectionPoint(service, named: name, in: nil) }
    let match = match(
      for: service, named: name.map { .known($0) } ?? .none, inContainer: false, on: ThreadState.current, at: point)
    guard let match, case .async(let initializer) = match.registration.making.kind else {
      do throws(InjectionError) { return try resolve(service, named: name, in: nil) } catch {
        guard error.code == .wrongIsolation else { throw error }
        return try await resolveOnMainActor(service, named: name)
      }
    }
    let registration = match.registration
    let value: Value
    do {
      value = try await initializer.value(
        of: registration, named: name, for: registration.lifetime.isShared ? match.owner : self)
    } catch {
      throw InjectionError.wrapping(error, thrownBy: point().step(service, registration: registration.place))
    }
    announce(value, of: registration, at: point())
    return value
  }

  @MainActor private func resolveOnMainActor<Value: Sendable>(
    _ service: Service, named name: String?
  ) async throws(InjectionError) -> Value {
    try resolve(service, named: name, from: nil)
  }
}

/// An async initializer, as code sees it that doesn't know the value's type.
protocol AsyncInitializer: AnyObject, Sendable {
  /// Awaits the value, as the type that the registration is for or as an Optional of it.
  func value<Asked: Sendable>(of: RegistrationStorage, named: String?, for: InitializerRegistry) async throws -> Asked
}

/// What an async initializer makes: for a value that is kept, by one run at a time, however many await it.
final class AsyncValue<Value: Sendable>: AsyncInitializer {
  private let initializer: @Sendable (Resolver) async throws -> Value
  private struct State: Sendable {
    var running: Running?
    /// How many runs have ended.
    var endedCount = 0
  }
  private let state = Lock(State())
  private typealias Running = (resetCount: Int, run: AsyncRun, task: Task<Value, any Error>)

  init(_ initializer: @escaping @Sendable (Resolver) async throws -> Value) { self.initializer = initializer }

  func value<Asked: Sendable>(
    of registration: RegistrationStorage, named name: String?, for registry: InitializerRegistry
  ) async throws -> Asked {
    let value =
      registration.lifetime.isShared
      ? try await value(keptBy: registration, named: name, for: registry)
      : try await makeUnique(of: registration, named: name, for: registry)
    guard let asked = value as? Asked else { registration.misused(for: Asked.self) }
    return asked
  }

  /// Runs the initializer for this caller alone.
  private func makeUnique(
    of registration: RegistrationStorage, named name: String?, for registry: InitializerRegistry
  ) async throws -> Value {
    let run = try AsyncRun.begin(registration, named: name)
    let value = try await run.awaited { try await perform(run, for: registry, keepsValue: false) }
    registry.runInitializer(keepsValue: false) { registration.complete(value, at: run.point) }
    return value
  }

  /// The value that the registration keeps, else that of the run under way, else that of a run begun now.
  ///
  /// The run is a task of its own, so cancelling one that awaits it cancels it for no other. A failure reaches all who
  /// await that run; the next to ask begins another.
  private func value(
    keptBy registration: RegistrationStorage, named name: String?, for registry: InitializerRegistry
  ) async throws -> Value {
    let endedCount = state.withLock(\.endedCount)
    if let value = registration.kept.current(as: Value.self) { return value }
    let begun = Result { () throws(InjectionError) in try AsyncRun.begin(registration, named: name) }
    let resetCount = registration.kept.resetCount
    let running = try state.withLock { state throws(InjectionError) -> Running? in
      // A run that began before a reset is for the callers that asked before it.
      if let running = state.running, running.resetCount == resetCount { return running }
      // A run has ended since the look: its value is kept, or was forgotten.
      if state.endedCount != endedCount { return nil }
      let run = try begun.get()
      let task = Task {
        defer { end(run) }
        let value = try await perform(run, for: registry, keepsValue: true)
        registration.kept.keep(value, since: resetCount)
        registry.runInitializer(keepsValue: true) { registration.complete(value, at: run.point) }
        return value
      }
      state.running = (resetCount, run, task)
      return state.running
    }
    guard let running else {
      return try await value(keptBy: registration, named: name, for: registry)
    }
    return try await running.run.awaited { try await running.task.value }
  }

  private func end(_ run: AsyncRun) {
    // Released with no lock held, with the value that its task has.
    let ended = state.withLock { state -> Running? in
      state.endedCount += 1
      guard state.running?.run === run else { return nil }
      return state.running.take()
    }
    withExtendedLifetime(ended) {}
  }

  private func perform(_ run: AsyncRun, for registry: InitializerRegistry, keepsValue: Bool) async throws -> Value {
    try await run.perform {
      try await registry.runInitializer(keepsValue: keepsValue) {
        let resolver = Resolver(point: run.point, registry: registry)
        let value = try await initializer(resolver)
        if !run.registration.hasWorkToDoAfterInitializer { return value }
        return try run.registration.decorated(value, resolver)
      }
    }
  }
}

/// One run of an async initializer: which registration's, for which name, and which run asked for it.
///
/// A run needs its own result if it awaits, directly or through other runs, itself; or if it asks, further in, for what
/// it is making, so that there would be ever more runs. Both are cycles. Two runs of one registration are otherwise
/// nothing to each other.
private final class AsyncRun: Sendable {
  let registration: RegistrationStorage
  let name: String?
  /// The run whose initializer began this one, while that still runs.
  private let asker: AsyncRun?
  /// Whether the initializer has ended; tasks that it left running ask for themselves.
  private let isOver = Atomic(false)

  @TaskLocal private static var innermost: AsyncRun?

  private init(_ registration: RegistrationStorage, named name: String?, askedBy asker: AsyncRun?) {
    self.registration = registration
    self.name = name
    self.asker = asker
  }

  /// This run, its asker, that one's asker.
  private var lineage: some Sequence<AsyncRun> { sequence(first: self, next: \.asker) }

  /// The run in whose initializer the calling task is.
  private static var current: AsyncRun? {
    innermost.flatMap { $0.isOver.load(ordering: .relaxed) ? nil : $0 }
  }

  /// A run that the calling task begins.
  ///
  /// - Throws: `.cycle` if a run further out is making the same for the same name.
  static func begin(
    _ registration: RegistrationStorage, named name: String?
  ) throws(InjectionError) -> AsyncRun {
    let asker = current
    let isOpen = asker?.lineage.contains { $0.registration === registration && $0.name == name }
    // What is asked for is added by the caller.
    if isOpen == true { throw InjectionError(.cycle, through: []) }
    return AsyncRun(registration, named: name, askedBy: asker)
  }

  var point: InjectionPoint { InjectionPoint(registration.service, named: name, in: nil) }

  /// Runs the initializer as the run that asks for whatever is asked for in it.
  func perform<Result>(_ body: () async throws -> Result) async throws -> Result {
    defer { isOver.store(true, ordering: .relaxed) }
    return try await Self.$innermost.withValue(self, operation: body)
  }

  /// Awaits this run in `body`, as the run that the calling task is in.
  ///
  /// - Throws: `.cycle`, with the types around it, if this run awaits, directly or through others, that one.
  func awaited<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let asker = Self.current else { return try await body() }
    let path = Self.waits.withLock { waits -> [Service]? in
      if let path = waits.path(from: self, to: asker) { return path }
      waits.add(asker, awaits: self)
      return nil
    }
    if let path {
      // What this task itself is making will be in the path anyway, and what is asked for is added by the caller.
      let isOpen = asker.lineage.contains { $0 === self }
      throw InjectionError(.cycle, through: isOpen ? [] : path.dropFirst().map { InjectionStep($0) })
    }
    defer { Self.waits.withLock { $0.remove(asker, awaits: self) } }
    return try await body()
  }

  /// Which run awaits which, in the whole process.
  private static let waits = Lock(Waits())

  private struct Waits: Sendable {
    private var awaited: [ObjectIdentifier: [AsyncRun]] = [:]

    mutating func add(_ run: AsyncRun, awaits other: AsyncRun) {
      awaited[ObjectIdentifier(run), default: []].append(other)
    }

    mutating func remove(_ run: AsyncRun, awaits other: AsyncRun) {
      guard let index = awaited[ObjectIdentifier(run)]?.firstIndex(where: { $0 === other }) else { return }
      awaited[ObjectIdentifier(run)]?.remove(at: index)
      if awaited[ObjectIdentifier(run)]?.isEmpty == true { awaited[ObjectIdentifier(run)] = nil }
    }

    /// The types on the way from one run to another, both included; nil if there is no way.
    func path(from start: AsyncRun, to goal: AsyncRun) -> [Service]? {
      var seen: Set<ObjectIdentifier> = [ObjectIdentifier(start)]
      var paths: [[AsyncRun]] = [[start]]
      while let path = paths.popLast(), let last = path.last {
        if last === goal { return path.map(\.registration.service) }
        for next in awaited[ObjectIdentifier(last), default: []] where seen.insert(ObjectIdentifier(next)).inserted {
          paths.append(path + [next])
        }
      }
      return nil
    }
  }
}
