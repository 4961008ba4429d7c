// The names are Apple's.
// swift-format-ignore-file

// The part of Combine that Spellbook and its driver use, built in the Swift 5 mode, like Apple's.

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

public protocol Cancellable {
  func cancel()
}

public protocol CustomCombineIdentifierConvertible {
  var combineIdentifier: CombineIdentifier { get }
}
extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}
public struct CombineIdentifier: Hashable {
  private let number: Int
  public init() { number = Int.random(in: .min ... .max) }
  public init(_ object: AnyObject) { number = ObjectIdentifier(object).hashValue }
}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  func request(_ demand: Subscribers.Demand)
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  associatedtype Input
  associatedtype Failure: Error
  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public enum Subscribers {
  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }

  public struct Demand: Equatable, Comparable, Hashable, Sendable {
    /// The maximum number of values; nil if there is no limit.
    public let max: Int?
    public static let unlimited = Demand(max: nil)
    public static let none = Demand(max: 0)
    public static func max(_ value: Int) -> Demand { Demand(max: value) }

    public static func + (a: Demand, b: Demand) -> Demand {
      guard let a = a.max, let b = b.max else { return .unlimited }
      return Demand(max: a + b)
    }
    public static func += (a: inout Demand, b: Demand) { a = a + b }
    public static func - (a: Demand, b: Int) -> Demand { a.max.map { Demand(max: Swift.max(0, $0 - b)) } ?? .unlimited }
    public static func -= (a: inout Demand, b: Int) { a = a - b }
    public static func < (a: Demand, b: Demand) -> Bool { a.max ?? .max < b.max ?? .max }
    public static func > (a: Demand, b: Int) -> Bool { a.max ?? .max > b }
    public static func == (a: Demand, b: Int) -> Bool { a.max == b }
  }

  public final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
    private let onValue: (Input) -> Void
    private var subscription: (any Subscription)?
    public init(_ onValue: @escaping (Input) -> Void) { self.onValue = onValue }
    public func receive(subscription: any Subscription) {
      self.subscription = subscription
      subscription.request(.unlimited)
    }
    public func receive(_ input: Input) -> Demand {
      onValue(input)
      return .none
    }
    public func receive(completion: Completion<Failure>) {}
    public func cancel() { subscription?.cancel() }
  }
}

public final class AnyCancellable: Cancellable, Hashable {
  private let end: () -> Void
  public init(_ cancel: @escaping () -> Void) { end = cancel }
  public func cancel() { end() }
  public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  deinit { end() }
}

extension Publisher where Failure == Never {
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    let sink = Subscribers.Sink<Output, Never>(receiveValue)
    receive(subscriber: sink)
    return AnyCancellable { sink.cancel() }
  }
}

// MARK: Operators

public enum Publishers {
  public struct Map<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = Upstream.Failure
    let upstream: Upstream
    let transform: (Upstream.Output) -> Output
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(subscriber: Inner<Upstream.Output, S>(subscriber) { subscriber.receive(transform($0)) })
    }
  }

  public struct ReceiveOn<Upstream: Publisher, Context: Scheduler>: Publisher {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure
    let upstream: Upstream
    let scheduler: Context
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        subscriber: Inner<Upstream.Output, S>(subscriber) { value in
          scheduler.schedule(options: nil) { _ = subscriber.receive(value) }
          return .max(1)
        })
    }
  }

  private final class Inner<Input, Downstream: Subscriber>: Subscriber {
    typealias Failure = Downstream.Failure
    let downstream: Downstream
    let onValue: (Input) -> Subscribers.Demand
    init(_ downstream: Downstream, _ onValue: @escaping (Input) -> Subscribers.Demand) {
      (self.downstream, self.onValue) = (downstream, onValue)
    }
    func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }
    func receive(_ input: Input) -> Subscribers.Demand { onValue(input) }
    func receive(completion: Subscribers.Completion<Failure>) { downstream.receive(completion: completion) }
  }
}

extension Publisher {
  public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Self, T> {
    Publishers.Map(upstream: self, transform: transform)
  }
  public func receive<S: Scheduler>(on scheduler: S, options: S.SchedulerOptions? = nil) -> Publishers.ReceiveOn<Self, S> {
    Publishers.ReceiveOn(upstream: self, scheduler: scheduler)
  }
}
