/// A protocol with any number of conforming types, each of which is a path of zeros and ones.
protocol ManyType: Sendable {
  init()
}

struct Root: ManyType {
  let number = 7
}
struct Zero<Rest: ManyType>: ManyType {
  let number = 8
}
struct One<Rest: ManyType>: ManyType {
  let number = 9
}

extension ManyType {
  fileprivate static var zero: any ManyType.Type { Zero<Self>.self }
  fileprivate static var one: any ManyType.Type { One<Self>.self }
}

/// Returns a number of distinct types, in no order that a table could exploit.
func manyTypes(_ count: Int) -> [any ManyType.Type] {
  var types: [any ManyType.Type] = [Root.self]
  var index = 0
  while types.count < count {
    types += [types[index].zero, types[index].one]
    index += 1
  }
  var generator = Shuffling(state: 1)
  return types.prefix(count).shuffled(using: &generator)
}

/// A generator that gives the same order in every run.
struct Shuffling: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}
