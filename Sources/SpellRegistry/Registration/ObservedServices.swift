internal import Synchronization

/// The services that an initializer has asked for, each once; a list that only grows.
///
/// Each request of an initializer looks here, nearly always in vain, so a look takes no lock and counts no reference
/// (benchmark: "resolve a graph of five"). A node is written before it is linked in front of the others, and all go with
/// the list.
struct ObservedServices: ~Copyable, Sendable {
  private final class Node: Sendable {
    let service: Service
    /// Retained by this node.
    let next: Unmanaged<Node>?

    init(_ service: Service, before next: Unmanaged<Node>?) {
      self.service = service
      self.next = next
    }
  }

  private let first = Atomic<Unmanaged<Node>?>(nil)

  deinit {
    var node = first.load(ordering: .acquiring)
    while let current = node {
      node = current._withUnsafeGuaranteedRef(\.next)
      current.release()
    }
  }

  /// Adds a service if it isn't there.
  @inline(__always) func insert(_ service: Service) {
    if !contains(service, from: first.load(ordering: .acquiring)) { add(service) }
  }

  private func contains(_ service: Service, from first: Unmanaged<Node>?) -> Bool {
    var node = first
    while let current = node {
      if current._withUnsafeGuaranteedRef({ $0.service == service }) { return true }
      node = current._withUnsafeGuaranteedRef(\.next)
    }
    return false
  }

  @inline(never) private func add(_ service: Service) {
    var next = first.load(ordering: .acquiring)
    while !contains(service, from: next) {
      let node = Unmanaged.passRetained(Node(service, before: next))
      let (exchanged, found) = first.compareExchange(
        expected: next, desired: node, ordering: .acquiringAndReleasing)
      if exchanged { return }
      node.release()
      next = found
    }
  }

  /// In the order in which they were asked for.
  var all: [Service] {
    sequence(first: first.load(ordering: .acquiring)) { $0?._withUnsafeGuaranteedRef(\.next) }
      .compactMap { $0?._withUnsafeGuaranteedRef(\.service) }.reversed()
  }
}
