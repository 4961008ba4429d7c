internal import Support
package import SpellRegistry

/// The recorders of a registry, behind the one hook that they share.
///
/// A registry's hooks stay for as long as it does. With a hook for each recorder, a registry that outlives many recorders
/// would call ever more dead ones.
package final class RecorderHub: Sendable {
  private struct Recorder: Sendable {
    weak var recorder: InjectionRecorder?
  }
  private struct Entry: Sendable {
    weak var registry: InitializerRegistry?
    let hub: RecorderHub
  }

  /// The hub of each registry.
  ///
  /// An address may be that of a registry that is gone.
  private static let hubs = Lock<[ObjectIdentifier: Entry]>([:])

  private let recorders = Lock<[Recorder]>([])

  /// Returns the hub of a registry, and adds its hook at the first call.
  package static func of(_ registry: InitializerRegistry) -> RecorderHub {
    hubs.withLock { hubs in
      if let entry = hubs[ObjectIdentifier(registry)], entry.registry === registry { return entry.hub }
      hubs = hubs.filter { $0.value.registry != nil }
      let hub = RecorderHub()
      registry.onInjection { value, point in hub.record(value, at: point) }
      hubs[ObjectIdentifier(registry)] = Entry(registry: registry, hub: hub)
      return hub
    }
  }

  func add(_ recorder: InjectionRecorder) {
    recorders.withLock { recorders in
      recorders.removeAll { $0.recorder == nil }
      recorders.append(Recorder(recorder: recorder))
    }
  }

  /// The number of recorders that are alive, and of those that are remembered.
  package var counts: (alive: Int, remembered: Int) {
    recorders.withLock { recorders in (recorders.count { $0.recorder != nil }, recorders.count) }
  }

  private func record(_ value: Any, at point: InjectionPoint) {
    for recorder in recorders.withLock({ $0.compactMap(\.recorder) }) { recorder.record(value, at: point) }
  }
}
