internal import Synchronization

/// The current registry of a task, and the async initializer that the task belongs to, as a ``Frame`` has them for a
/// thread.
///
/// ``InitializerRegistry/run(_:)`` and each async initializer create a context. The tasks that they start inherit it.
final class TaskContext: Sendable {
  let registry: InitializerRegistry
  /// The registry's number, copied for reads that don't retain the registry.
  let registryNumber: UInt64
  /// The reference to the registry that objects made in this context share.
  private let reference: RegistryReference
  /// The link to the registry of objects that are made in this context, unless a frame says that they link weakly.
  let link: RegistryLink
  /// Whether objects made in this context link to their registry weakly, as in a ``Frame``.
  let linksWeakly: Bool
  /// The run of the innermost async initializer around, which may be over; nil if there is none.
  let run: AsyncRun?
  /// The nearest enclosing context whose body was still running when this context was created.
  ///
  /// Contexts that had ended are skipped. Otherwise, tasks that start each other in `run` would build an endless chain.
  private let outer: TaskContext?
  private let isOver = Atomic(false)

  @TaskLocal static var local: TaskContext?
  /// Whether there has ever been a context; if not, there is no need to read the task-local value.
  ///
  /// Relaxed: code in a context runs after the store, in program order or in a task that was started later.
  private static let isUsed = Atomic(false)

  static var current: TaskContext? { isUsed.load(ordering: .relaxed) ? local : nil }

  /// Creates the context of an async initializer or, without a run, a context that differs from the current one only in
  /// its registry.
  init(_ registry: InitializerRegistry, run: AsyncRun? = nil) {
    let (thread, current) = (CurrentThread.current, Self.current)
    self.registry = registry
    registryNumber = registry.number
    self.run = run ?? thread.run(in: current)
    linksWeakly = run?.linksWeakly ?? thread.linksWeakly(in: current)
    outer = sequence(first: current) { $0?.outer }.first { $0?.isOver.load(ordering: .relaxed) != true } ?? nil
    reference = linksWeakly ? registry.weakReference : RegistryReference(to: registry, isWeak: false)
    link = registry === InitializerRegistry.shared ? .shared : .reference(reference)
    Self.isUsed.store(true, ordering: .relaxed)
  }

  /// Notes that the body has returned; tasks that it has started may go on in this context.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Makes the objects of each enclosing `run` hold their registry weakly, if that registry is `registry` or a
  /// descendant of it.
  static func weakenReferences(to registry: InitializerRegistry) {
    var next = current
    while let context = next {
      if context.registry.lineage.contains(where: { $0 === registry }) { context.reference.weaken() }
      next = context.outer
    }
  }
}
