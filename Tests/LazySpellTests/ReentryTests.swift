import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

struct Left: Sendable {}
struct Right: Sendable {}

// `@unchecked Sendable`: no code assigns the wrapped properties; their storage's atomic `gate` guards them.
// `friend` changes only while one thread uses the object.
final class Pair: @unchecked Sendable {
  @Lazy var left: Left
  @Lazy var right: Right
  @Lazy var number: Int
  var friend: Pair?
}

/// An object whose properties have expressions that use the object's properties, through a weak reference to it.
///
/// `@unchecked Sendable`: each test uses its object on one thread.
private final class Knot: @unchecked Sendable {
  @Lazy var itself: Int
  @Lazy var first: Int
  @Lazy var second: Int
  @Lazy var written: Int

  init() {
    weak var knot: Knot?
    _itself = Lazy(wrappedValue: knot?.itself ?? 0)
    _first = Lazy(wrappedValue: knot?.second ?? 0)
    _second = Lazy(wrappedValue: knot?.first ?? 0)
    _written = Lazy(wrappedValue: Knot.write(knot))
    knot = self
  }

  private static func write(_ knot: Knot?) -> Int {
    knot?.written = 1
    return 2
  }
}

/// Returns the code of the error that `resolve` throws.
private func code<Value>(of resolve: () throws(InjectionError) -> Value) -> InjectionError.Code? {
  do throws(InjectionError) {
    _ = try resolve()
    return nil
  } catch {
    return error.code
  }
}

@Suite("A property that needs itself", .registry, .timeLimit(.hang)) struct ReentryTests {
  private var registry: InitializerRegistry { .current }

  @Test("a property that needs itself throws the path")
  func directlyThrowsThePath() throws {
    registry.register(Int.self, .in(Pair.self) { try $0.$number.resolve() + 1 })
    let pair = Pair()
    let error = try #require(throws: InjectionError.self) { try pair.$number.resolve() }
    #expect(error.code == .cycle)
    #expect(error.path == ["Int", "Int"])
    #expect(error.description.contains("Pair.number"))
    #expect(!pair.$number.hasValue)
  }

  @Test("a property that needs itself through another property throws the path")
  func throughAnotherPropertyThrowsThePath() throws {
    registry.register(
      Left.self,
      .in(Pair.self) { pair in
        _ = try pair.$right.resolve()
        return Left()
      })
    registry.register(
      Right.self,
      .in(Pair.self) { pair in
        _ = try pair.$left.resolve()
        return Right()
      })
    let pair = Pair()
    let error = try #require(throws: InjectionError.self) { try pair.$left.resolve() }
    #expect(error.code == .cycle)
    #expect(error.path == ["Left", "Right", "Left"])
    #expect(!pair.$left.hasValue && !pair.$right.hasValue)
  }

  @Test("a property that needs itself through another object throws the path")
  func throughAnotherObjectThrowsThePath() throws {
    registry.register(Int.self, .in(Pair.self) { try ($0.friend?.$number.resolve() ?? 0) + 1 })
    let (one, other) = (Pair(), Pair())
    one.friend = other
    other.friend = one
    let error = try #require(throws: InjectionError.self) { try one.$number.resolve() }
    #expect(error.code == .cycle)
    #expect(error.path == ["Int", "Int", "Int"])
    other.friend = nil
    #expect(one.number == 2)
  }

  @Test("a chain of objects that ends isn't a cycle")
  func aChainOfObjectsThatEndsIsNoCycle() {
    registry.register(Int.self, .in(Pair.self) { ($0.friend?.number ?? 0) + 1 })
    let pairs = (0..<20).map { _ in Pair() }
    for (pair, next) in zip(pairs, pairs.dropFirst()) { pair.friend = next }
    #expect(pairs[0].number == 20)
  }

  @Test("a chain of five thousand constants isn't a cycle")
  func aChainOfFiveThousandConstantsIsNoCycle() async {
    let value = await onThread(stackSize: 512 << 20) {
      var constants = [LazyConstant { 1 }]
      for index in 1..<5_000 {
        let before = constants[index - 1]
        constants.append(LazyConstant { before.value + 1 })
      }
      return constants[4_999].value
    }
    #expect(value == 5_000)
  }

  @Test("a constant that reads itself stops the program with the cycle")
  func aConstantThatReadsItselfStopsTheProgramWithTheCycle() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      enum Knot { static let number: LazyConstant<Int> = LazyConstant { number.value + 1 } }
      _ = Knot.number.value
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("needs its own result: Int → Int."))
    #expect(message.contains("ReentryTests.swift:"))
    #expect(message.contains("An expression can't read the value that it makes, directly or through others."))
    #expect(!message.contains("Injected<") && !message.contains("resolve()"))
  }

  @Test("constants that need one another without end stop the program with a message before the stack overflows")
  func constantsThatNeedOneAnotherWithoutEndStopTheProgramWithASentenceWhereTheStackEnds() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      @Sendable func next(_ depth: Int) -> Int { LazyConstant { next(depth + 1) }.value }
      _ = await onThread(stackSize: 512 << 10) { next(0) }
    }
    #expect(text(result.standardErrorContent).contains("would overflow its thread's stack"))
  }

  @Test("two properties of one type aren't a cycle")
  func twoPropertiesOfOneTypeAreNoCycle() {
    final class Twin {
      @Lazy var first: Int
      @Lazy var second: Int
    }
    registry.register(
      Int.self,
      .in(Twin.self) { twin, resolver in
        resolver.point.propertyName == "first" ? twin.second + 1 : 10
      })
    #expect(Twin().first == 11)
  }

  @Test("a cycle across two threads throws on both", arguments: 1...20)
  func acrossTwoThreadsThrowsOnBoth(round: Int) async {
    let (leftBegan, rightBegan) = (Latch(), Latch())
    registry.register(
      Left.self,
      .in(Pair.self) { pair in
        leftBegan.open()
        rightBegan.wait()
        _ = try pair.$right.resolve()
        return Left()
      })
    registry.register(
      Right.self,
      .in(Pair.self) { pair in
        rightBegan.open()
        leftBegan.wait()
        _ = try pair.$left.resolve()
        return Right()
      })
    let pair = Pair()
    let cycles = Counter()
    await onThreads(
      {
        if code(of: pair.$left.resolve) == .cycle { cycles.increment() }
      },
      {
        if code(of: pair.$right.resolve) == .cycle { cycles.increment() }
      })
    #expect(cycles.value == 2)
    #expect(!pair.$left.hasValue && !pair.$right.hasValue)
  }

  @Test("two threads have their values once the cycle between them is broken")
  func acrossTwoThreadsOnceTheCycleIsBrokenBothHaveTheirValue() async {
    let (leftBegan, rightBegan) = (Latch(), Latch())
    registry.register(
      Left.self,
      .in(Pair.self) { pair in
        leftBegan.open()
        rightBegan.wait()
        _ = try? pair.$right.resolve()
        return Left()
      })
    registry.register(
      Right.self,
      .in(Pair.self) { pair in
        rightBegan.open()
        leftBegan.wait()
        _ = try? pair.$left.resolve()
        return Right()
      })
    let pair = Pair()
    await onThreads({ _ = pair.left }, { _ = pair.right })
    #expect(pair.$left.hasValue && pair.$right.hasValue)
  }

  @Test("a cycle across several threads throws on each")
  func inARingOfThreadsThrowsOnEach() async {
    let count = 4
    let began = (0..<count).map { _ in Latch() }
    let pairs = (0..<count).map { _ in Pair() }
    for index in pairs.indices { pairs[index].friend = pairs[(index + 1) % count] }
    registry.register(
      Int.self,
      .in(Pair.self) { pair in
        guard let index = pairs.firstIndex(where: { $0 === pair }) else { return 0 }
        began[index].open()
        for latch in began { latch.wait() }
        return try (pair.friend?.$number.resolve() ?? 0) + 1
      })
    let cycles = Counter()
    let read: @Sendable (Int) -> Void = { index in
      if code(of: pairs[index].$number.resolve) == .cycle { cycles.increment() }
    }
    await onThreads({ read(0) }, { read(1) }, { read(2) }, { read(3) })
    #expect(cycles.value == count)
    for pair in pairs { pair.friend = nil }
  }

  @Test(
    "a read of a property that needs itself, directly or through another one, stops the program with the name",
    arguments: [("itself", "Int → Int."), ("first", "")])
  func stopsTheProgramWithTheName(property: String, cycle: String) async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [property = property as String] in
      let knot = Knot()
      _ = property == "itself" ? knot.itself : knot.first
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Knot.\(property)"))
    #expect(message.contains("needs its own result: \(cycle)"))
  }

  @Test("a property whose initializer assigns it has the assigned value after the read")
  func byAssigningItselfHasTheAssignedValueAfterTheReadThatMadeTheOther() {
    let knot = Knot()
    #expect(knot.written == 2)
    #expect(knot.written == 1)
  }

  @Test("a cycle across two threads stops the program with the name")
  func acrossTwoThreadsStopsTheProgramWithTheName() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (leftBegan, rightBegan) = (Latch(), Latch())
      InitializerRegistry.shared.register(
        Left.self,
        .in(Pair.self) { pair in
          leftBegan.open()
          rightBegan.wait()
          _ = pair.right
          return Left()
        })
      InitializerRegistry.shared.register(
        Right.self,
        .in(Pair.self) { pair in
          rightBegan.open()
          leftBegan.wait()
          _ = pair.left
          return Right()
        })
      let pair = Pair()
      await onThreads({ _ = pair.left }, { _ = pair.right })
    }
    let message = text(result.standardErrorContent)
    #expect(message.contains("Pair.left") || message.contains("Pair.right"))
    #expect(
      message.contains("needs its own result: Left → Right → Left.")
        || message.contains("needs its own result: Right → Left → Right."))
  }
}
