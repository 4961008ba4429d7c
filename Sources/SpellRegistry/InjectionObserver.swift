internal import Support
internal import Synchronization

/// An object that hears of every value that is injected into it.
///
/// ```swift
/// final class Page: InjectionObserver {
///   @Injected var tracker: any Tracker
///   func didInject(_ value: Any, intoProperty name: String) { print("\(name) is \(value)") }
/// }
/// ```
public protocol InjectionObserver: AnyObject {
  /// Called once for each injection, after the registration's and the property's own hooks, with no lock held.
  ///
  /// It runs in the isolation in which the property was read, which is the enclosing object's own. The value is already stored: reading
  /// the property here returns it.
  func didInject(_ value: Any, intoProperty name: String)
}

extension InitializerRegistry {
  /// Reports that a property has a value: to the object that holds it, if that is an ``InjectionObserver``, then to the
  /// hooks of this registry.
  ///
  /// For a wrapper that stores values itself; ``PropertyStorage`` reports what it makes. Call it after the value is stored,
  /// with no lock held, in the object's isolation:
  ///
  /// ```swift
  /// storage = storage.replaced(with: value)
  /// storage.declaration.registry.notifyObservers(of: value, at: storage.point(in: container))
  /// ```
  ///
  /// - Precondition: If the object observes, reflection shows the property's name; see ``NamedProperty``.
  public func notifyObservers<Value>(of value: Value, at point: InjectionPoint) {
    notifyObservers(of: value, in: point.container) { point }
  }

  func notifyObservers<Value>(of value: Value, in container: AnyObject?, at point: () -> InjectionPoint) {
    // By way of `Any`: a cast from `AnyObject` doesn't check that a conformance is isolated to an actor that isn't this one.
    if let container, ObserverCache.observes(type(of: container)),
      let observer = (container as Any) as? any InjectionObserver
    {
      let point = point()
      guard let name = point.declaredName else {
        trap(
          """
          \(TypeName.of(type(of: container))) observes its injections, but reflection does not show the name of the \
          property declared here: build it with reflection metadata and without a custom mirror, and conform the \
          property's wrapper to NamedProperty.
          """, at: point.identity?.place)
      }
      observer.didInject(value, intoProperty: name)
    }
    hooks.callAll(value, at: point())
  }
}

/// Which classes observe their injections: the runtime's answers, kept, since they are needed at every injection.
enum ObserverCache {
  private static let count = 512

  /// One word for each of some classes: its address and, in the lowest bit, which that leaves free, whether it observes.
  ///
  /// Two classes may want the same word; the later has it then. Relaxed: a word says all there is to know, and is true
  /// whenever it is read.
  private static let words = AtomicWords(0, count: count)

  /// Whether objects of a class are ``InjectionObserver``s.
  static func observes(_ type: any AnyObject.Type) -> Bool {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let index = Int(bitPattern: (address >> 5) % UInt(count))
    let known = words[index].value.load(ordering: .relaxed)
    if known & ~1 == address { return known & 1 == 1 }
    let observes = type is any InjectionObserver.Type
    words[index].value.store(address | (observes ? 1 : 0), ordering: .relaxed)
    return observes
  }
}

/// Which hook runs: its list's address, which is never followed, and its place in that.
struct RunningHook: Equatable {
  let list: UInt
  let index: Int
}

/// Hooks that are called in the order in which they were added.
struct Hooks: ~Copyable, Sendable {
  typealias Hook = @Sendable (Any, InjectionPoint) -> Void
  private let isUsed = Atomic(false)
  private let hooks = Lock<[Hook]>([])

  /// Whether there is any; saves the lock if there is none.
  ///
  /// Relaxed: a thread that has synchronized with the one that added a hook sees it, as with any other value.
  var areUsed: Bool { isUsed.load(ordering: .relaxed) }

  func add(_ hook: @escaping Hook) {
    hooks.withLock { $0.append(hook) }
    isUsed.store(true, ordering: .relaxed)
  }

  /// Calls every hook, making an `Any` of the value only if there is one.
  func callAll<Value>(_ value: Value, at point: @autoclosure () -> InjectionPoint) {
    if areUsed { call(value, at: point()) }
  }

  /// Calls every hook, with no lock held, but those that run already, further out on this thread; and none if two of them do.
  ///
  /// A hook that resolves what it hears of would otherwise call itself until the stack is full, and ten that do so would
  /// call each other millions of times.
  private func call(_ value: Any, at point: InjectionPoint) {
    let hooks = hooks.withLock { $0 }
    let thread = ThreadState.current
    let list = address(of: self)
    if thread.fields.runningHooks.count(where: { $0.list == list }) > 1 { return }
    for (index, hook) in hooks.enumerated() {
      let running = RunningHook(list: list, index: index)
      if thread.fields.runningHooks.contains(running) { continue }
      thread.fields.runningHooks.append(running)
      hook(value, point)
      thread.fields.runningHooks.removeLast()
    }
  }
}

/// An object with something left to do once everything is injected into it.
public protocol PostInjectable {
  /// Called after `registry.inject(into:)` has filled the object, and by ``InitializerRegistry/postInjectInstances()`` on
  /// registered instances.
  func postInject()
}

extension InitializerRegistry {
  /// Calls `postInject()` on every registered instance that has it, in the order of registration, with no lock held.
  ///
  /// Instances are those of `register(instance:)` in this registry; one that is registered twice is called once.
  public func postInjectInstances() {
    var called: Set<ObjectIdentifier> = []
    for registration in registrations {
      guard let instance = registration.instance(as: (any PostInjectable).self) else { continue }
      let isObject = type(of: instance as Any) is any AnyObject.Type
      if isObject && !called.insert(ObjectIdentifier(instance as AnyObject)).inserted { continue }
      instance.postInject()
    }
  }
}
