package import Support
internal import Synchronization

/// An object whose closures inform a test about requests to a registry, and about faults.
///
/// The trait of a test sets the closures for the test's registry. The shared registry sets its own closure. The
/// reporter may exist for longer than its registry.
package final class RegistryReporter: Sendable {
  package struct Receivers: Sendable {
    /// Called with a message and a place when a test runs the live initializer of a key without a `test` initializer.
    ///
    /// If the closure is nil for the registry and all of its parents, the message is written to standard error instead.
    package var onLiveInitializer: Receiver?
    /// Called with a message and a place before the program stops, if the registry or a child is current at that time.
    ///
    /// For example, the program stops if a property can't be injected. The closure isn't called if the mistake's place
    /// in the source code is unknown.
    package var onFailure: Receiver?
    /// The test that the registry belongs to, with its place, for messages; nil if it isn't that of a test.
    package var test: String?
    fileprivate var onRequest: Watcher?
  }
  package typealias Receiver = @Sendable (String, SourcePlace) -> Void
  package typealias Watcher = @Sendable (Service, _ isFound: Bool, _ step: () -> InjectionStep) -> Void
  package let receivers = Lock(Receivers())
  private let outer: RegistryReporter?

  init(outer: RegistryReporter?) { self.outer = outer }

  /// Makes `receive` the closure that is called for each request to the registry, in place of any earlier closure.
  ///
  /// The closure is also called for requests to children of context `.test`, unless the registry is the shared
  /// registry.
  package func watch(_ receive: @escaping Watcher) { receivers.withLock { $0.onRequest = receive } }

  /// Makes the next read of each injected property count as a request, even if a value has already been injected.
  package func noteReads() { _ = Epoch.current.advance() }

  @inline(never) func report(_ request: borrowing Request, isFound: Bool = true) {
    receivers.withLock(\.onRequest)?(request.service, isFound) { request.step() }
    outer?.report(request, isFound: isFound)
  }
}

extension InitializerRegistry {
  /// Reports that a test runs a key's live initializer, unless the key has an initializer for tests.
  ///
  /// An initializer that makes its value of others isn't reported. The others are, if they are live.
  ///
  /// A test's ``RegistryReporter`` gets one report for each default registration. Without a receiver of reports, a
  /// warning is written to standard error, only once for each key.
  func reportLiveInitializer(of record: RegistrationRecord, at request: borrowing Request) {
    guard context == .test, let key = record.service.key, !key.hasInitializer(for: .test),
      !record.initializer.asksForOthers, record.isFirstReport()
    else { return }
    let report = receiver(\.onLiveInitializer)
    if report == nil && !key.isFirstLiveUseInTests() { return }
    let step = request.step()
    let ofType = match(Request(Service(type(of: key).valueType), named: nil)).map {
      " What is registered for the type, at \($0.record.place), doesn't serve the key."
    }
    let message = """
      The key of type \(step.typeName) that is declared at \(key.place) has no initializer for tests, so the live one makes \
      its value\(step.property.map { " for \($0)" } ?? ""). Add `.test { … }` to the key's declaration, or `.liveInTests()` if \
      its own value suits tests; or register an initializer: registry.register(.key) { … }.\(ofType ?? "")
      """
    if let report { return report(message, step.declarationPlace ?? key.place) }
    writeToStandardError(
      "Spellbook: \(message) This is said once for each key. With the trait .registry(.strict), it is an issue.\n")
  }

  func reportFailure(_ message: String, at place: SourcePlace) {
    receiver(\.onFailure)?(message, place)
  }

  /// Returns the receiver of this registry or of its nearest parent that has one.
  private func receiver(
    _ path: KeyPath<RegistryReporter.Receivers, RegistryReporter.Receiver?>
  ) -> RegistryReporter.Receiver? {
    for registry in lineage {
      if let receiver = registry.reporter?.receivers.withLock({ $0[keyPath: path] }) { return receiver }
    }
    return nil
  }

  /// A receiver of requests that warns on standard error, once per process, if a test uses the shared registry.
  ///
  /// A request that nothing serves causes no warning. A request for a declared key causes a warning only if code has
  /// registered something for the key without a limit to a class or a name.
  package static let warnOfSharedUse: RegistryReporter.Watcher = { service, isFound, step in
    guard isFound, service.key == nil || shared.isRegistered(Request(service, named: nil)),
      !isSharedUseKnown.exchange(true, ordering: .relaxed)
    else { return }
    let step = step()
    writeToStandardError(
      """
      Spellbook: a test asked the shared registry for \(step.typeName)\(step.property.map { " (\($0))" } ?? ""). Tests that \
      use it share its registrations and preferences: give each test its own registry with @Suite(.registry), from \
      SpellTesting, or with InitializerRegistry(context: .test).run { … }. This is said once.

      """)
  }
  private static let isSharedUseKnown = Atomic(false)
}
