internal import Synchronization

/// The current registry of a task, and the run of the async initializer that the task belongs to.
///
/// A ``Frame`` contains the corresponding facts for a thread. ``InitializerRegistry/run(_:)`` and each async
/// initializer create a context, which the tasks that they start inherit.
final class TaskContext: Sendable {
  let registry: InitializerRegistry
  /// A copy of the registry's number, which can be read without retaining the registry.
  let registryNumber: UInt64
  /// A reference to the registry, which all objects made in this context share.
  private let reference: RegistryReference
  /// The link from objects made in this context to the registry, unless a ``Frame`` makes them hold it weakly.
  let link: RegistryLink
  /// Whether objects made in this context hold their registry weakly, because a registry may keep these objects.
  let linksWeakly: Bool
  /// The run of the innermost enclosing async initializer, even if the run is over; nil if there is none.
  let run: AsyncRun?
  /// The nearest enclosing context whose body was still running when this context was created.
  ///
  /// Contexts that had ended are skipped. Otherwise, tasks that start each other in `run` would build an endless chain
  /// of contexts.
  private let outer: TaskContext?
  private let isOver = Atomic(false)

  @TaskLocal static var local: TaskContext?
  /// Whether the task-local value may be set, because the process has created a context at some time.
  ///
  /// Relaxed: all code that runs in a context follows the store in program order, or is in a task that starts later.
  private static let isUsed = Atomic(false)

  static var current: TaskContext? { isUsed.load(ordering: .relaxed) ? local : nil }

  /// Creates the context of an async initializer or, if `run` is nil, a copy of the current context with another
  /// registry.
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

  /// Records that the body has returned, although tasks that it started may still run in this context.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Makes objects hold their registry weakly in each enclosing context whose registry is `registry` or a descendant.
  static func weakenReferences(to registry: InitializerRegistry) {
    var next = current
    while let context = next {
      if context.registry.lineage.contains(where: { $0 === registry }) { context.reference.weaken() }
      next = context.outer
    }
  }
}
