import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private class Grandparent {
  @Lazy private var secret = "grandparent"
  var grandparentSecret: String { secret }
  @Lazy var shared = Service("grandparent")
}
private class Parent: Grandparent {
  @Lazy private var secret = "parent"
  var parentSecret: String { secret }
}
private final class Child: Parent {
  @Lazy private var secret = "child"
  var childSecret: String { secret }
  @Lazy var own = Service("child")
}

private class Box<Content> {
  @Lazy var contents: [Content]
  @Lazy var name: String = "\(Content.self)"
}
private final class IntBox: Box<Int> { @Lazy var sum = 6 }

extension OtherFile {
  var doubled: Int { number * 2 }
}

private final class Observed {
  var changes: [Int] = []
  @Lazy var number = 1 { didSet { changes.append(number) } }
}

@Suite("A property lives in", .registry, .timeLimit(.hang)) struct ContainerTests {
  private var registry: InitializerRegistry { .current }

  @Test("a property lives in an actor")
  func anActor() async {
    actor Worker {
      @Lazy var count = 1
      func count(up step: Int) -> Int {
        count += step
        return count
      }
      func reset() { $count.reset() }
    }
    let worker = Worker()
    #expect(await worker.count == 1)
    #expect(await worker.count(up: 2) == 3)
    await worker.reset()
    #expect(await worker.count == 1)
  }

  @Test("a property lives in a main-actor class")
  @MainActor func aMainActorClass() {
    @MainActor final class Window {
      var title = "main"
      @Lazy var service = Service("expression")
      @Lazy var registered: Service
    }
    registry.register(
      Service.self,
      .in(Window.self) { window in
        MainActor.assumeIsolated { Service(window.title) }
      })
    let window = Window()
    #expect(window.service.label == "main")
    #expect(window.registered.label == "main")
  }

  @Test("a property lives in a class hierarchy with private properties of one name")
  func aHierarchyWithPrivatePropertiesOfOneName() {
    let child = Child()
    #expect(child.grandparentSecret == "grandparent")
    #expect(child.parentSecret == "parent")
    #expect(child.childSecret == "child")
    #expect(child.shared.label == "grandparent")
    #expect(child.own.label == "child")
  }

  @Test("a property lives in a generic class, with storage for each specialization")
  func aGenericClassWithStorageForEachSpecialization() {
    let numbers = Box<Int>()
    let words = Box<String>()
    numbers.contents.append(1)
    #expect(numbers.contents == [1])
    #expect(words.contents == [])
    #expect(numbers.name == "Int")
    #expect(words.name == "String")
  }

  @Test("a property lives in a subclass of a generic class")
  func aSubclassOfAGenericClass() {
    registry.register(String.self, .in(IntBox.self) { _ in "box of ints" })
    let box = IntBox()
    #expect(box.sum == 6)
    #expect(box.name == "box of ints")
    #expect(Box<Int>().name == "Int")
  }

  @Test("a property lives in a class of another file")
  func anotherFile() {
    #expect(OtherFile().doubled == 42)
  }

  @Test("a property lives in a struct that is a constant")
  func aStructThatIsAConstant() {
    struct Point { @Lazy var distance = 5 }
    let point = Point()
    #expect(!point.$distance.hasValue)
    #expect(point.distance == 5)
    #expect(point.$distance.hasValue)
  }

  @Test("a property lives in a local scope")
  func aLocal() {
    let made = Counter()
    @Lazy var number = made.increment()
    #expect(made.value == 0)
    #expect(number == 1)
    #expect(number == 1)
    number = 7
    #expect(number == 7)
  }

  @Test("a constant lives in a Sendable class")
  func aPlainConstantOfASendableClass() async {
    final class Shared: Sendable {
      static let global = LazyConstant { Service("static") }
      let number = LazyConstant { 9 }
    }
    let shared = Shared()
    #expect(!shared.number.hasValue)
    #expect(await race(100) { _ in shared.number.value } == Array(repeating: 9, count: 100))
    #expect(Shared.global.value === Shared.global.value)
  }

  @Test("a property observer is called for assignments only")
  func aPropertyWithAnObserverWhichHearsOfAssignmentsOnly() {
    let observed = Observed()
    #expect(observed.number == 1)
    #expect(observed.changes == [])
    observed.number = 2
    observed.number += 1
    #expect(observed.changes == [2, 3])
  }
}

@Suite("A copy of a struct", .registry) struct StructCopyTests {
  private struct Model {
    @Lazy var number = 1
    @Lazy var list = [1]
    @Lazy var service = Service()
  }

  @Test(
    "a copy of a struct, created before or after the first read, is assigned independently", arguments: [false, true])
  func isAssignedApart(afterTheFirstRead: Bool) {
    var first = Model()
    if afterTheFirstRead { #expect(first.number == 1) }
    var second = first
    second.number = 2
    #expect(first.number == 1)
    first.number = 3
    #expect(first.number == 3)
    #expect(second.number == 2)
  }

  @Test("a copy of a struct is mutated in place independently")
  func isMutatedInPlaceApart() {
    var first = Model()
    var second = first
    first.list.append(2)
    second.list.append(3)
    let third = second
    second.list.append(4)
    #expect(first.list == [1, 2])
    #expect(second.list == [1, 3, 4])
    #expect(third.list == [1, 3])
  }

  @Test("a copy of a struct shares the value until it is assigned")
  func sharesTheValueUntilItIsAssigned() {
    let first = Model()
    var second = first
    #expect(first.service === second.service)
    second.service = Service()
    #expect(first.service !== second.service)
  }

  @Test("a struct that is created memberwise has the value that was given")
  func ofAModelMadeMemberwiseHasTheValueThatWasGiven() {
    struct Point {
      @Lazy var x = 1
      @Lazy var y = 2
    }
    let point = Point(x: 5)
    #expect(point.x == 5)
    #expect(point.y == 2)
  }

  @Test("a copy of a struct in a class is assigned independently")
  func inAClassIsAssignedApart() {
    final class Holder { var model = Model() }
    let holder = Holder()
    let copy = holder.model
    holder.model.number = 4
    holder.model.list.append(2)
    #expect(holder.model.number == 4)
    #expect(holder.model.list == [1, 2])
    #expect(copy.number == 1)
    #expect(copy.list == [1])
  }

  @Test("a copy of a struct in an array is assigned independently")
  func inAnArrayIsAssignedApart() {
    var models = Array(repeating: Model(), count: 3)
    models[1].number = 5
    #expect(models.map(\.number) == [1, 5, 1])
  }

  @Test("a copy of a struct asks the registry that was current when the first one was created")
  func asksTheRegistryThatWasCurrentWhenTheFirstWasMade() {
    struct Page { @Lazy var service: Service }
    let mine = InitializerRegistry()
    mine.register { Service("mine") }
    var page = mine.run { Page() }
    let copy = page
    page.service = Service("assigned")
    page.$service.reset()
    #expect(page.service.label == "mine")
    #expect(copy.service.label == "mine")
  }
}
