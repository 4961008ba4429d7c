internal import Synchronization

/// The current registry of a task, and the run of the async initializer that the task belongs to.
///
/// A ``Frame`` contains the corresponding facts for a thread. Each call of ``InitializerRegistry/run(_:)`` and each
/// ``AsyncRun`` creates a context. The tasks that start in the context inherit it, except detached tasks.
final class TaskContext: Sendable {
  let registry: InitializerRegistry
  /// A copy of the registry's number, which can be read without retaining the registry.
  let registryNumber: UInt64
  /// The reference that ``link`` contains, unless the registry is the shared registry.
  private let reference: RegistryReference
  /// The link that objects made in this context have to the registry, unless a ``Frame`` requires a weak link.
  ///
  /// An object that a synchronous initializer makes doesn't use this link. Its link is to the registry that the
  /// initializer's ``Frame`` names.
  let link: RegistryLink
  /// Whether a registry may keep what is made in this context, which then holds its registry weakly.
  let isKept: Bool
  /// The run of the innermost enclosing async initializer; nil if there is none.
  ///
  /// This is also nil if the run was already over when the context was created. A run that ends later stays in this
  /// property.
  let run: AsyncRun?
  /// The nearest enclosing context whose body was still running when this context was created; nil if there was none.
  ///
  /// Contexts that had ended are skipped. Otherwise, tasks that start each other in calls of
  /// ``InitializerRegistry/run(_:)`` would build an endless chain of contexts.
  private let outer: TaskContext?
  private let isOver = Atomic(false)

  @TaskLocal static var local: TaskContext?
  /// Whether the process has ever created a context.
  ///
  /// As long as this is false, ``current`` needn't read the task-local value. Relaxed ordering suffices: code that runs
  /// in a context follows the store of true in program order, or is in a task that started after that store.
  private static let isUsed = Atomic(false)

  static var current: TaskContext? { isUsed.load(ordering: .relaxed) ? local : nil }

  /// Creates the context of an async run or, if `run` is nil, of a call of ``InitializerRegistry/run(_:)``.
  ///
  /// In the context of a call, ``run`` and ``isKept`` have the same values as for the code that makes the call.
  init(_ registry: InitializerRegistry, run: AsyncRun? = nil) {
    let (thread, current) = (CurrentThread.current, Self.current)
    self.registry = registry
    registryNumber = registry.number
    self.run = run ?? thread.run(in: current)
    isKept = run?.isKept ?? thread.isKept(thread.innermost, in: current)
    outer = sequence(first: current) { $0?.outer }.first { $0?.isOver.load(ordering: .relaxed) != true } ?? nil
    reference = isKept ? registry.weakReference : RegistryReference(to: registry, isWeak: false)
    link = registry === InitializerRegistry.shared ? .shared : .reference(reference)
    Self.isUsed.store(true, ordering: .relaxed)
  }

  /// Records that the code for which this context was created has ended.
  ///
  /// The code is the body of a `run` call, or an async initializer. Its tasks may still run in this context.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Makes the references to `registry` and its descendants weak, in the current context and its ``outer`` contexts.
  ///
  /// This is necessary when `registry` gets a registration, because the registration may keep an object that was made
  /// in one of these contexts.
  static func weakenReferences(to registry: InitializerRegistry) {
    var next = current
    while let context = next {
      if context.registry.lineage.contains(where: { $0 === registry }) { context.reference.weaken() }
      next = context.outer
    }
  }
}
