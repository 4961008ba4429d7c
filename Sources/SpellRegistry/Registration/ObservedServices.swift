/// The services that an initializer has asked for, each once; a list that only grows.
///
/// Each request of an initializer looks here, nearly always in vain, so a look takes no lock and counts no reference
/// (benchmark: "resolve a graph of five"). A service that is new is linked behind the last one.
struct ObservedServices: ~Copyable, Sendable {
  private final class Node: Sendable {
    let service: Service
    let next = AtomicReference<Node>()

    init(_ service: Service) { self.service = service }
  }

  private let first = AtomicReference<Node>()

  // One node at a time: if each node released the next one, a long list would overflow the stack.
  deinit {
    var node = first.exchange(nil)
    while let current = node { node = current.next.exchange(nil) }
  }

  /// Adds a service if it isn't there.
  @inline(__always) func insert(_ service: Service) {
    var last: Borrowed<Node>?
    var node = first.borrowed
    while let current = node {
      if current.use({ $0.service == service }) { return }
      last = current
      node = current.use { $0.next.borrowed }
    }
    add(service, behind: last)
  }

  /// Links a service behind a node, or behind those that other threads have linked there meanwhile.
  @inline(never) private func add(_ service: Service, behind last: Borrowed<Node>?) {
    var node = last?.retained ?? first.object { Node(service) }
    while node.service != service { node = node.next.object { Node(service) } }
  }

  /// In the order in which they were asked for.
  var all: [Service] {
    sequence(first: first.object) { $0?.next.object }.compactMap { $0?.service }
  }
}
