import Benchmark
import Spellbook

private final class Clock {}
private final class Disk {}
private final class Coin {}

private final class Purse {
  let coin: Coin
  init(coin: Coin) { self.coin = coin }
}

private final class Pocket {
  let coin: Coin
  let purse: Purse
  init(coin: Coin, purse: Purse) { (self.coin, self.purse) = (coin, purse) }
}

private final class Coat {
  let pocket: Pocket
  init(pocket: Pocket) { self.pocket = pocket }
}

private final class Person {
  let coat: Coat
  let pocket: Pocket
  let purse: Purse
  init(coat: Coat, pocket: Pocket, purse: Purse) { (self.coat, self.pocket, self.purse) = (coat, pocket, purse) }
}

private final class Network {
  let clock: Clock
  init(clock: Clock) { self.clock = clock }
}
private final class Basket {
  let disk: Disk
  init(disk: Disk) { self.disk = disk }
}
private final class Checkout {
  let network: Network
  let basket: Basket
  init(network: Network, basket: Basket) {
    self.network = network
    self.basket = basket
  }
}

func compareResolving() {
  compareUnique("Int") { 7 }
  compareUnique("String") { longText }
  compareUnique("object") { Thing() }
  compareSingleton("Int") { 7 }
  compareSingleton("String") { longText }
  compareSingleton("object") { Thing() }
  compareGraph()
}

@inline(__always)
private func compareUnique<Value>(_ what: String, make: @escaping @Sendable () -> Value) {
  compareUnique(what, of: .shared, make: make)
  // The registry isn't current, so it is made current for the initializer, and new objects refer to it.
  compareUnique("\(what) of another registry", of: InitializerRegistry(), make: make)
}

@inline(__always)
private func compareUnique<Value>(
  _ what: String, of registry: InitializerRegistry, make: @escaping @Sendable () -> Value
) {
  Comparison(
    what: "Resolve a unique \(what)", baseline: "closure by type", goal: .ratio(1.2), extraAllocations: .infinity
  ).add {
    let registry = identity(registry)
    registry.register(Value.self, make)
    return { try $0.measure { for _ in $0 { use(try registry.resolve(Value.self)) } } }
  } baseline: {
    let closures = identity(Closures())
    closures.register(Value.self, make)
    return { $0.measure { for _ in $0 { use(closures.resolve(Value.self)) } } }
  }
}

@inline(__always)
private func compareSingleton<Value: Sendable>(_ what: String, make: @escaping @Sendable () -> Value) {
  Comparison(what: "Resolve a singleton \(what)", baseline: "value by type", goal: .ratio(1), extraAllocations: 0)
    .add {
      let registry = identity(InitializerRegistry())
      registry.register(Value.self, scope: .singleton, make)
      return { try $0.measure { for _ in $0 { use(try registry.resolve(Value.self)) } } }
    } baseline: {
      let values = identity(Values())
      values.register(make())
      return { $0.measure { for _ in $0 { use(values.resolve(Value.self)) } } }
    }
}

private func compareGraph() {
  Comparison(
    what: "Resolve a graph of five, autowired", baseline: "by hand", goal: .ratio(3.7), extraAllocations: .infinity,
    times: 100
  ).add {
    let registry = identity(InitializerRegistry())
    registry.register(Clock.self) { Clock() }
    registry.register(Disk.self) { Disk() }
    registry.register(.autowire(Network.init))
    registry.register(.autowire(Basket.init))
    registry.register(.autowire(Checkout.init))
    return { try $0.measure { for _ in $0 { use(try registry.resolve(Checkout.self)) } } }
  } baseline: {
    {
      $0.measure {
        for _ in $0 { use(Checkout(network: Network(clock: Clock()), basket: Basket(disk: Disk()))) }
      }
    }
  }
  Comparison(
    what: "Resolve a graph of twelve of five types, autowired", baseline: "by hand", goal: .ratio(4),
    extraAllocations: .infinity, times: 100
  ).add {
    let registry = identity(InitializerRegistry())
    registry.register { Coin() }
    registry.register(.autowire(Purse.init))
    registry.register(.autowire(Pocket.init))
    registry.register(.autowire(Coat.init))
    registry.register(.autowire(Person.init))
    return { try $0.measure { for _ in $0 { use(try registry.resolve(Person.self)) } } }
  } baseline: {
    func pocket() -> Pocket { Pocket(coin: Coin(), purse: Purse(coin: Coin())) }
    return {
      $0.measure {
        for _ in $0 { use(Person(coat: Coat(pocket: pocket()), pocket: pocket(), purse: Purse(coin: Coin()))) }
      }
    }
  }
}
