import StandardKeys
import TestSupport
import Testing

@Suite("A random source", .timeLimit(.hang)) struct RandomSourceTests {
  // The first numbers of Vigna's splitmix64.c.
  private static let sequences: [(seed: UInt64, numbers: [UInt64])] = [
    (0, [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F]),
    (1_234_567, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]),
  ]

  @Test("gives the numbers of SplitMix64 for its seed", arguments: sequences)
  func splitMix(seed: UInt64, numbers: [UInt64]) {
    let source = RandomSource(seed: seed)
    #expect(numbers.map { _ in source.next() } == numbers)
  }

  @Test("gives no number of a sequence twice, however many tasks ask")
  func tasks() async {
    let source = RandomSource(seed: 1)
    let all = await withTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<8 { group.addTask { (0..<1_000).map { _ in source.next() } } }
      return await group.reduce(into: Set<UInt64>()) { $0.formUnion($1) }
    }
    let alone = RandomSource(seed: 1)
    #expect(all == Set((0..<8_000).map { _ in alone.next() }))
  }

  @Test("of the system gives other numbers each time")
  func system() {
    #expect((0..<4).map { _ in RandomSource.system.next() } != (0..<4).map { _ in RandomSource.system.next() })
  }

  @Test("passes on what its closure throws")
  func errors() {
    struct Failure: Error {}
    #expect(throws: Failure.self) { try RandomSource(seed: 0) { (_) throws(Failure) -> Int in throw Failure() } }
  }
}
