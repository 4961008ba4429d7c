internal import Synchronization

/// A recorder that passes each request for a service, and the registration that serves the request, to a closure.
///
/// Requests that come from a hook of a registration or registry aren't recorded.
package final class RequestRecorder: Sendable {
  private let receive: @Sendable (_ asker: Provider?, _ service: Service, _ provider: Provider?) -> Void

  /// Creates a recorder that passes requests to a closure.
  ///
  /// - Parameter receive: Called with the provider whose initializer makes the request (if any), the requested service,
  ///   and the provider that serves the request (if any).
  package init(_ receive: @escaping @Sendable (Provider?, Service, Provider?) -> Void) {
    self.receive = receive
    Self.count.add(1, ordering: .relaxed)
  }

  deinit { Self.count.subtract(1, ordering: .relaxed) }

  /// The recorder of the current task.
  ///
  /// The tasks that this task starts inherit the recorder, unless they are detached.
  @TaskLocal package static var current: RequestRecorder?
  private static let count = Atomic(0)

  /// Whether any recorder exists in the process.
  static var isUsed: Bool { count.load(ordering: .relaxed) != 0 }

  static func note(_ service: Service, servedBy provider: Provider?, on thread: CurrentThread) {
    if thread.fields.turn.isInHook { return }
    for frame in thread.fields.frames.reversed() where frame.task == thread.fields.turn.task {
      if let record = frame.record?.object, let registry = frame.registry?.object {
        current?.receive(Provider(record, in: registry), service, provider)
        return
      }
      if let run = frame.run?.object { return note(service, servedBy: provider, by: run) }
    }
    current?.receive(nil, service, provider)
  }

  static func note(_ service: Service, servedBy provider: Provider?, by run: AsyncRun?) {
    current?.receive(run?.provider, service, provider)
  }
}
