internal import Synchronization

/// The registry that ``InitializerRegistry/run(_:)`` or an async initializer has made current for a task.
final class TaskContext: Sendable {
  let registry: InitializerRegistry
  /// The kind of reference from a created value to the registry.
  let reference: RegistryReference
  let run: AsyncRun?
  private let outer: TaskContext?

  @TaskLocal static var local: TaskContext?
  /// Whether there has ever been one; if not, the task's locals need no look.
  ///
  /// Relaxed: what runs inside comes after the store in program order, or by what began its task.
  private static let isUsed = Atomic(false)

  static var current: TaskContext? { isUsed.load(ordering: .relaxed) ? local : nil }

  init(_ registry: InitializerRegistry, run: AsyncRun? = nil, isKept: Bool = false) {
    self.registry = registry
    self.run = run
    reference = isKept ? registry.weakReference : RegistryReference(to: registry, isWeak: false)
    outer = Self.current
    Self.isUsed.store(true, ordering: .relaxed)
  }

  /// Lets what was made in each `run` that is open no longer keep its registry, if something is registered in that
  /// registry or in a parent of it.
  static func loosen(for registry: InitializerRegistry) {
    for context in sequence(first: current, next: { $0?.outer }) {
      guard let context, context.registry.lineage.contains(where: { $0 === registry }) else { continue }
      context.reference.loosen()
    }
  }
}
