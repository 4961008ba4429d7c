@testable import LaunchInitializers
import SpellRegistry

/// The products of a random plan's steps in a real registry, and a model of what that registry has to answer.
struct OracleProducts {
  /// The service of each step: a number that no other product of the plan has.
  struct Part: Sendable { let number: Int }

  struct Maker: ServiceInitializer {
    func makeService(with configuration: any Configurable) -> Part { Part(number: 0) }
  }

  struct Product {
    let product: any StepProduct
    let attempt: LaunchMachine.Job
    let place: Int
    var closings = 0
  }

  /// The keys that steps may provide, of which the program registers something else for the second one.
  static let keys = [InjectionKey(scope: .singleton) { Part(number: -1) }, InjectionKey { Part(number: 0) }]

  private let registry = InitializerRegistry(context: .live)
  /// The products, of which the first one has the number 1.
  private(set) var all: [Product] = []
  /// For each place, the numbers of the registered products; a place is the type or one of the keys.
  private var registered = [[-3], [-1], [-2]]
  private(set) var problems: [String] = []

  init() {
    registry.register(.instance(Part(number: -3)))
    registry.register(Self.keys[1], .instance(Part(number: -2)))
  }

  mutating func make(by attempt: LaunchMachine.Job, in machine: inout LaunchMachine) {
    let (number, key) = (all.count + 1, machine.plan.declared(attempt.step).key)
    let place = 1 + (Self.keys.firstIndex { $0 === key } ?? -1)
    let product = registry.run { MadeService(Part(number: number), of: Maker(), for: key) }
    all.append(Product(product: product, attempt: attempt, place: place))
    guard machine.keep(product, by: attempt) else { return }
    product.register()
    registered[place].append(number)
    check()
  }

  mutating func withdraw(_ products: [any StepProduct]) {
    for product in products {
      product.withdraw()
      let index = self.index(of: product)
      registered[all[index].place].removeAll { $0 == index + 1 }
      check()
    }
  }

  /// Closes products as a job does, which gets them whatever else is registered.
  mutating func close(_ products: [any StepProduct], by job: LaunchMachine.Job) {
    let own = registry.child { for product in products { product.register(in: $0) } }
    for product in products {
      let index = self.index(of: product)
      all[index].closings += 1
      if all[index].attempt.step != job.step { problems.append("\(job) closes a product of \(all[index].attempt)") }
      let last = products.last { all[self.index(of: $0)].place == all[index].place }.map { self.index(of: $0) + 1 }
      if Self.answer(of: own, at: all[index].place) != last { problems.append("\(job) doesn't get what it closes") }
    }
    check()
  }

  private func index(of product: any StepProduct) -> Int { all.firstIndex { $0.product === product } ?? 0 }

  private static func answer(of registry: InitializerRegistry, at place: Int) -> Int? {
    do {
      return try place == 0 ? registry.resolve(Part.self).number : registry.resolve(keys[place - 1]).number
    } catch { return nil }
  }

  /// Checks that each place has the newest of its registered products, or what the program registered or declared.
  private mutating func check() {
    for place in registered.indices {
      let (answer, expected) = (Self.answer(of: registry, at: place), registered[place].last)
      if answer != expected { problems.append("place \(place) has \(answer ?? 0) instead of \(expected ?? 0)") }
    }
  }

  /// The number of products that are still registered.
  var registeredCount: Int { registered.reduce(0) { $0 + $1.count - 1 } }
}
