import SpellRegistry
import TestSupport
import Testing

@Suite("Async initializers", .timeLimit(.hang)) struct AsyncTests {
  let registry = InitializerRegistry()

  @Test("an Optional of what is made asynchronously is awaited too")
  func optional() async throws {
    registry.register(Double.self, scope: .singleton, .async { 1 })
    #expect(try await registry.resolveAsync(Double?.self) == 1)
    #expect(try await registry.resolveAsync(Float?.self) == nil)
    registry.register(Int.self, scope: .singleton, .async { throw CancellationError() })
    let error = await error(awaiting: Int?.self, of: registry)
    #expect(error?.code == .initializerFailed)
  }

  @Test("two thousand tasks at once get one singleton, made once")
  func once() async {
    let registry = registry
    let runs = Counter()
    registry.register(
      Clock.self, scope: .singleton,
      .async {
        runs.increment()
        await Task.yield()
        return Clock()
      })
    let clocks = await race(2000) { _ in try? await registry.resolveAsync(Clock.self) }
    #expect(Set(clocks.compactMap { $0.map { ObjectIdentifier($0) } }).count == 1)
    #expect(clocks.count(where: { $0 != nil }) == 2000)
    #expect(runs.value == 1)
  }

  @Test("a synchronous read before the value is there is an error that says what to do")
  func notReady() async throws {
    registry.register(Clock.self, scope: .singleton, .async { Clock() })
    let error = try #require(registry.error(resolving: Clock.self))
    #expect(error.code == .notReady)
    #expect(error.description.contains("try await registry.resolveAsync(Clock.self)"))
    let clock = try await registry.resolveAsync(Clock.self)
    #expect(try registry.resolve(Clock.self) === clock)
  }

  @Test("the advice to await a value has the name with which it was asked for")
  func namedAdvice() {
    final class Page { @Spell var backup: Clock }
    registry.register(Clock.self, named: "backup", scope: .singleton, .async { Clock() })
    let call = #"registry.resolveAsync(Clock.self, named: "backup")"#
    #expect(registry.error(resolving: Clock.self, named: "backup")?.description.contains(call) == true)
    let page = registry.run { Page() }
    #expect(throws: InjectionError.self) { try page.$backup.resolve(in: page) }
    do { _ = try page.$backup.resolve(in: page) } catch { #expect(error.description.contains(call)) }
  }

  @Test("a unique async value is made for each request and never ready for synchronous readers")
  func unique() async throws {
    registry.register(Clock.self, .async { Clock() })
    let first = try await registry.resolveAsync(Clock.self)
    #expect(try await registry.resolveAsync(Clock.self) !== first)
    #expect(registry.error(resolving: Clock.self)?.code == .notReady)
  }

  @Test("a weak async value is one while it is held")
  func weak() async throws {
    registry.register(Ticket.self, scope: .weak, .async { Ticket(1) })
    var held: Ticket? = try await registry.resolveAsync(Ticket.self)
    #expect(try await registry.resolveAsync(Ticket.self) === held)
    weak let gone = held
    held = nil
    #expect(gone == nil)
    #expect(try await registry.resolveAsync(Ticket.self).number == 1)
  }

  @Test("what is registered synchronously can be awaited, too")
  func synchronous() async throws {
    registry.register { Ticket(1) }
    registry.register(Ticket.self, named: "other") { Ticket(2) }
    #expect(try await registry.resolveAsync(Ticket.self).number == 1)
    #expect(try await registry.resolveAsync(Ticket.self, named: "other").number == 2)
    #expect(try await registry.resolveAsync(Clock?.self) == nil)
  }

  @Test("an instance of another type with the better rank does not hide an async initializer")
  func otherInstance() async throws {
    registry.register(named: "main", .instance(Clock(), as: .anySupertype))
    registry.register(Ticket.self, .async { Ticket(1) })
    #expect(try await registry.resolveAsync(Ticket.self, named: "main").number == 1)
  }

  @Test("a failure reaches all that await that run, and the next to ask begins another")
  func failing() async throws {
    let registry = registry
    let (runs, asked) = (Counter(), AsyncLatch())
    registry.register(
      Ticket.self, scope: .singleton,
      .async {
        if runs.increment() > 1 { return Ticket(2) }
        await asked.wait()
        throw Offline()
      })
    async let first = error(awaiting: Ticket.self, of: registry)
    async let second = error(awaiting: Ticket.self, of: registry)
    asked.open()
    let errors = await [first, second]
    #expect(errors.contains { $0?.code == .initializerFailed && $0?.underlying is Offline })
    #expect(try await registry.resolveAsync(Ticket.self).number == 2)
    #expect(runs.value == 2)
  }

  @Test("canceling one task that awaits ends the run for no other task")
  func cancelling() async throws {
    let registry = registry
    let (begun, finish) = (AsyncLatch(), AsyncLatch())
    registry.register(
      Bool.self, scope: .singleton,
      .async {
        begun.open()
        await finish.wait()
        return Task.isCancelled
      })
    let impatient = Task { try await registry.resolveAsync(Bool.self) }
    await begun.wait()
    async let patient = registry.resolveAsync(Bool.self)
    impatient.cancel()
    finish.open()
    #expect(try await patient == false)
  }

  @Test("a request that is cancelled returns while the value is still being made for another")
  func cancelled() async throws {
    let registry = registry
    let (begun, finish) = (AsyncLatch(), AsyncLatch())
    registry.register(
      Ticket.self, scope: .singleton,
      .async {
        begun.open()
        await finish.wait()
        return Ticket(1)
      })
    async let patient = registry.resolveAsync(Ticket.self)
    await begun.wait()
    let impatient = Task { await error(awaiting: Ticket.self, of: registry) }
    impatient.cancel()
    let found = await impatient.value
    #expect(found?.code == .cancelled)
    #expect(found?.underlying is CancellationError)
    finish.open()
    #expect(try await patient.number == 1)
  }

  @Test("a request never fails because another one was cancelled, and gets the value that is kept")
  func joining() async throws {
    for _ in 0..<1000 {
      let registry = InitializerRegistry()
      registry.register(
        Ticket.self, scope: .singleton,
        .async {
          for _ in 0..<5 { await Task.yield() }
          try Task.checkCancellation()
          return Ticket(1)
        })
      let impatient = Task { try? await registry.resolveAsync(Ticket.self) }
      await Task.yield()
      async let cancelling: Void = Task.detached { impatient.cancel() }.value
      let ticket = try await registry.resolveAsync(Ticket.self)
      await cancelling
      #expect(try await registry.resolveAsync(Ticket.self) === ticket)
    }
  }

  @Test("a run is cancelled if the only task that asks is cancelled before it awaits")
  func cancelledBefore() async {
    let registry = registry
    let (cancelled, ended) = (AsyncLatch(), AsyncLatch())
    registry.register(
      Ticket.self, scope: .singleton,
      .async {
        defer { ended.open() }
        try await Task.sleep(for: .seconds(3600))
        return Ticket(1)
      })
    let impatient = Task {
      await cancelled.wait()
      return await error(awaiting: Ticket.self, of: registry)
    }
    impatient.cancel()
    cancelled.open()
    #expect(await impatient.value?.code == .cancelled)
    await ended.wait()
  }

  @Test("the error of a cancelled initializer says so, even if its value isn't shared", arguments: [true, false])
  func cancelledUnshared(isUnique: Bool) async {
    let registry = registry
    let begun = AsyncLatch()
    registry.register(
      Ticket.self, scope: isUnique ? .unique : .graph,
      .async {
        begun.open()
        try await Task.sleep(for: .seconds(3600))
        return Ticket(1)
      })
    let impatient = Task { await error(awaiting: Ticket.self, of: registry) }
    await begun.wait()
    impatient.cancel()
    let found = await impatient.value
    #expect(found?.code == .cancelled)
    #expect(found?.underlying is CancellationError)
  }

  @Test(
    "what an async initializer asks its resolver for is one resolution: it shares graph values, and completes at its end"
  )
  func resolution() async throws {
    let order = Shared<[String]>([])
    registry.register(Clock.self, scope: .graph) { Clock() }
      .onCompletion { _, _ in order.update { $0.append("clock completed") } }
    registry.register(Network.self, .autowire(Network.init))
    registry.register(
      Checkout.self,
      .async { resolver in
        let network = try await resolver.resolveAsync(Network.self)
        await Task.yield()
        let clock = try resolver.resolve(Clock.self)
        order.update { $0.append("made") }
        return Checkout(network: network, clock: clock)
      })
    let checkout = try await registry.resolveAsync(Checkout.self)
    #expect(checkout.clock === checkout.network.clock)
    #expect(order.value == ["made", "clock completed"])
    #expect(try await registry.resolveAsync(Checkout.self).clock !== checkout.clock)
  }

  @Test("a caller that asks after a reset gets a new value, even while the old one is still being made")
  func reset() async throws {
    let registry = registry
    let (session, runs) = (ScopeCache("session"), Counter())
    let (begun, finish) = (AsyncLatch(), AsyncLatch())
    registry.register(
      Ticket.self, scope: .cached(in: session),
      .async {
        let run = runs.increment()
        if run == 1 {
          begun.open()
          await finish.wait()
        }
        return Ticket(run)
      })
    async let old = registry.resolveAsync(Ticket.self)
    await begun.wait()
    session.reset()
    #expect(try await registry.resolveAsync(Ticket.self).number == 2)
    finish.open()
    #expect(try await old.number == 1)
    #expect(try registry.resolve(Ticket.self).number == 2)
    #expect(try await registry.resolveAsync(Ticket.self).number == 2)
  }

  @Test("hooks are called for each await")
  func hooks() async throws {
    let heard = Shared<[String]>([])
    registry.onInjection { _, _ in heard.update { $0.append("registry") } }
    registry.register(Clock.self, scope: .singleton, .async { Clock() })
      .onInjection { _, point in heard.update { $0.append("registration, \(point.propertyName ?? "-")") } }
    _ = try await registry.resolveAsync(Clock.self, named: "wall")
    _ = try await registry.resolveAsync(Clock.self)
    #expect(heard.value == ["registration, wall", "registry", "registration, -", "registry"])
  }

  @Test("a registry is released after async values, failures and hooks", .timeLimit(.hang))
  func release() async throws {
    weak var gone: InitializerRegistry?
    do {
      let registry = InitializerRegistry()
      gone = registry
      registry.register(
        Network.self, scope: .singleton, .async { Network(clock: try await $0.registry.resolveAsync()) }
      )
      .onInjection { _, _ in }
      registry.register(Clock.self, scope: .singleton, .async { Clock() })
      registry.register(Ticket.self, scope: .singleton, .async { throw Offline() })
      _ = try await registry.resolveAsync(Network.self)
      _ = try? await registry.resolveAsync(Ticket.self)
    }
    // The task that made a value may end a little after the value is available.
    while gone != nil, !Task.isCancelled { await Task.yield() }
    #expect(gone == nil)
  }

  @Test("an Optional of what an async initializer makes is awaited, in every scope", arguments: 0..<4)
  func optional(scope: Int) async throws {
    let scopes: [Scope<Ticket>] = [.unique, .graph, .singleton, .weak]
    let (registry, runs, heard) = (InitializerRegistry(), Counter(), Counter())
    registry.register(
      Ticket.self, scope: scopes[scope],
      .async {
        runs.increment()
        return Ticket(7)
      }
    ).onInjection { ticket, _ in if ticket.number == 7 { heard.increment() } }
    let ticket = try await registry.resolveAsync(Ticket?.self)
    #expect(ticket?.number == 7)
    #expect((runs.value, heard.value) == (1, 1))
    #expect(try await registry.resolveAsync(Clock?.self) == nil)
  }
}

/// Returns the error of awaiting a type, or nil if it succeeds.
func error<Value: Sendable>(
  awaiting _: Value.Type, of registry: InitializerRegistry, named name: String? = nil
) async -> InjectionError? {
  do throws(InjectionError) {
    _ = try await registry.resolveAsync(Value.self, named: name)
    return nil
  } catch { return error }
}
