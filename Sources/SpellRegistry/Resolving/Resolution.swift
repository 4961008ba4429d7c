internal import Support
internal import Synchronization

/// The state of one request from outside, which ends with it: the values of scope `.graph`, and the completions that wait for
/// its end.
///
/// A thread has one while it resolves; an async resolution is carried by its resolvers from thread to thread.
final class Resolution: Sendable {
  struct GraphKey: Hashable {
    let record: ObjectIdentifier
    let registry: ObjectIdentifier
  }

  /// A value, with what its key names, which must not go before it.
  private struct GraphValue: Sendable {
    let cell: ValueCell
    let record: RegistrationRecord
    let registry: InitializerRegistry
  }

  /// A call that waits for the end.
  private struct Completion: Sendable {
    let run: @Sendable () -> Void
    let registry: InitializerRegistry
    let isKept: Bool
    let chain: [RegistrationRecord]
  }

  private struct State: Sendable {
    var graph: [GraphKey: GraphValue] = [:]
    var completions: [Completion] = []
    /// The registrations of the completion that runs, outermost first.
    var chain: [RegistrationRecord] = []
    /// The number of completions that other completions began.
    var nestedCount = 0
  }

  private let state = Lock(State())

  private static let longestChain = 100
  private static let mostNested = 10_000

  /// Copies the value that a registration has made for a registry in this resolution.
  func copyGraphValue(of record: RegistrationRecord, for registry: InitializerRegistry, to memory: ValueMemory) -> Bool
  {
    guard let cell = graphCell(of: record, for: registry) else { return false }
    memory.copy(cell.type, from: cell.memory)
    return true
  }

  func graphCell(of record: RegistrationRecord, for registry: InitializerRegistry) -> ValueCell? {
    state.withLock {
      $0.graph[GraphKey(record: ObjectIdentifier(record), registry: ObjectIdentifier(registry))]?.cell
    }
  }

  func keepGraphValue(_ memory: ValueMemory, of record: RegistrationRecord, for registry: InitializerRegistry) {
    let key = GraphKey(record: ObjectIdentifier(record), registry: ObjectIdentifier(registry))
    let cell = ValueCell(record.service.type)
    cell.memory.copy(cell.type, from: memory)
    cell.gate.settle(as: CreationGate.ready)
    let value = GraphValue(cell: cell, record: record, registry: registry)
    // The former value, which was made further in for another asker, is released with no lock held.
    let former = state.withLock { $0.graph.updateValue(value, forKey: key) }
    withExtendedLifetime(former) {}
  }

  /// Leaves a call for the end of the resolution.
  func atEnd(
    of record: RegistrationRecord, in registry: InitializerRegistry, isKept: Bool, _ run: @escaping @Sendable () -> Void
  ) {
    state.withLock { state in
      state.completions.append(
        Completion(run: run, registry: registry, isKept: isKept, chain: state.chain + [record]))
    }
  }

  /// Runs the completions, and those that they lead to, with no lock held.
  ///
  /// - Throws: `.cycle` if they begin each other without end.
  func complete(on thread: CurrentThread) throws(InjectionError) {
    while true {
      // Taken out, so that values are released with no lock held; their deinitializers may leave more.
      let calls = state.withLock { state in
        defer { state.completions = [] }
        return state.completions
      }
      if calls.isEmpty { return }
      for next in calls {
        let isEndless = state.withLock { state in
          if next.chain.count > 1 { state.nestedCount += 1 }
          state.chain = next.chain
          return next.chain.count > Self.longestChain || state.nestedCount > Self.mostNested
        }
        if isEndless { throw InjectionError.endless(next.chain) }
        thread.with(next.registry, isKept: next.isKept, next.run)
      }
    }
  }
}
