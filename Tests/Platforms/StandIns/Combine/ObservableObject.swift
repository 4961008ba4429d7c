// The names are Apple's.
// swift-format-ignore-file

public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher
  where ObjectWillChangePublisher.Failure == Never
  var objectWillChange: ObjectWillChangePublisher { get }
}

public final class ObservableObjectPublisher: Publisher {
  public typealias Output = Void
  public typealias Failure = Never
  private var subscriptions: [Int: () -> Void] = [:]
  private var count = 0

  public init() {}
  public func send() { for send in subscriptions.values { send() } }
  public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never {
    count += 1
    let number = count
    subscriptions[number] = { _ = subscriber.receive() }
    subscriber.receive(subscription: Inner { [weak self] in self?.subscriptions[number] = nil })
  }

  private final class Inner: Subscription {
    let end: () -> Void
    init(_ end: @escaping () -> Void) { self.end = end }
    func request(_ demand: Subscribers.Demand) {}
    func cancel() { end() }
  }
}
extension Subscriber where Input == Void {
  public func receive() -> Subscribers.Demand { receive(()) }
}
