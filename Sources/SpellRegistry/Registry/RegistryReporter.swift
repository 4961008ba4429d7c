internal import Support

/// Who hears of what a test should know of a registry; a test's trait sets it.
package struct RegistryReporter: ~Copyable, Sendable {
  package typealias Report = @Sendable (String) -> Void

  struct Reports: Sendable {
    var liveInitializer: Report?
    var failure: Report?
  }
  private let reports = Lock(Reports())

  /// Called when a key that has no initializer for the registry's context is asked for and nothing is registered for it.
  package var onLiveInitializer: Report? {
    get { reports.withLock(\.liveInitializer) }
    nonmutating set { reports.withLock { $0.liveInitializer = newValue } }
  }

  /// Called before a property that can't be injected stops the program.
  package var onFailure: Report? {
    get { reports.withLock(\.failure) }
    nonmutating set { reports.withLock { $0.failure = newValue } }
  }
}

extension InitializerRegistry {
  /// Reports that a key has no initializer of its own for this registry's context.
  func reportMissingInitializer(of key: InjectionKeys, at point: InjectionPoint) {
    guard let report = lineage.lazy.compactMap({ $0.reporter.onLiveInitializer }).first else { return }
    let step = point.step(point.propertyType)
    let asker = step.property.map { " for \($0)" } ?? ""
    report(
      """
      The key of type \(step.typeName) that is declared at \(key.place) has no initializer for context .\(context), so the \
      live one makes its value\(asker). Add `.\(context) { … }` to the key's declaration, or register an initializer: \
      registry.register(.key) { … }.
      """)
  }

  /// Reports a message before it stops the program.
  func reportFailure(_ message: String) { lineage.lazy.compactMap({ $0.reporter.onFailure }).first?(message) }
}
