import LazySpell
import SpellRegistry
import SpellTesting
import TestSupport
import Testing

private final class Screen {
  let made: Counter
  @Lazy var service: Service
  @Lazy var optional: Service?
  @Lazy var tags: [String]
  @Lazy var basket: Basket
  @Lazy var given: Int? = nil
  init(_ counter: Counter = Counter()) {
    made = counter
    _service = Lazy(wrappedValue: Service("\(counter.increment())"))
  }
}

private struct Basket: DefaultInitializable { var items = 0 }

@Suite("A first read", .registry) struct FirstReadTests {
  private var registry: InitializerRegistry { .current }

  @Test("the first read creates the value, once, and nothing before it does")
  func makesTheValueOnce() {
    let made = Counter()
    let screen = Screen(made)
    #expect(!screen.$service.hasValue)
    #expect(made.value == 0)
    let service = screen.service
    #expect(screen.service === service)
    #expect(screen.$service.hasValue)
    #expect(made.value == 1)
  }

  @Test("an assignment before the first read keeps the expression from running")
  func anAssignmentBeforeItSparesTheExpression() {
    let made = Counter()
    let screen = Screen(made)
    let mine = Service("mine")
    screen.service = mine
    #expect(screen.service === mine)
    #expect(screen.$service.hasValue)
    #expect(made.value == 0)
  }

  @Test("after a reset, the next read creates another value, whether the last one was created or assigned")
  func aResetMakesTheNextReadMakeAnother() {
    let made = Counter()
    let screen = Screen(made)
    let first = screen.service
    screen.$service.reset()
    #expect(!screen.$service.hasValue)
    #expect(screen.service !== first)
    #expect(made.value == 2)
    screen.service = Service("assigned")
    screen.$service.reset()
    #expect(screen.service.label == "3")
  }

  @Test("resetting a value that was not created does nothing")
  func resettingWhatIsNotMadeDoesNothing() {
    let made = Counter()
    let screen = Screen(made)
    screen.$service.reset()
    screen.$service.reset()
    #expect(screen.service.label == "1")
  }

  @Test("an Optional with nothing registered reads nil and asks again")
  func anOptionalWithNothingRegisteredReadsNilAndAsksAgain() {
    let screen = Screen()
    #expect(screen.optional == nil)
    #expect(!screen.$optional.hasValue)
    registry.register { Service("later") }
    #expect(screen.optional?.label == "later")
    #expect(screen.$optional.hasValue)
  }

  @Test("an Optional asks for its own type before the wrapped one")
  func anOptionalAsksForItsOwnTypeBeforeTheWrappedOne() {
    registry.register(Service.self) { Service("wrapped") }
    registry.register(Service?.self) { Service("optional") }
    #expect(Screen().optional?.label == "optional")
  }

  @Test("an Optional asks again after its registered initializer created nil")
  func anOptionalAsksAgainAfterNil() {
    let asked = Counter()
    registry.register(Service?.self) {
      asked.increment()
      return nil
    }
    let screen = Screen()
    #expect(screen.optional == nil)
    #expect(screen.optional == nil)
    #expect(asked.value == 2)
    #expect(!screen.$optional.hasValue)
  }

  @Test("nil from an expression is a value")
  func anExpressionOfNilIsAValue() {
    let screen = Screen()
    #expect(screen.given == nil)
    #expect(screen.$given.hasValue)
  }

  @Test("an Optional can be assigned nil")
  func anOptionalCanBeAssignedNil() {
    registry.register { Service() }
    let screen = Screen()
    screen.optional = nil
    #expect(screen.optional == nil)
    #expect(screen.$optional.hasValue)
  }

  @Test("a type with an empty initializer starts empty")
  func aTypeWithAnEmptyInitializerStartsEmpty() {
    let screen = Screen()
    #expect(screen.tags.isEmpty)
    #expect(screen.basket.items == 0)
    screen.tags.append("one")
    #expect(screen.tags == ["one"])
  }

  @Test("the completions of what an expression resolves run when the value is there")
  func completionsRunAfterAnExpression() {
    final class Page {
      @Lazy var number = { (try? InitializerRegistry.current.resolve(Int.self)) ?? 0 }()
    }
    let completed = Counter()
    registry.register(Int.self) { 7 }.onCompletion { _, _ in completed.increment() }
    #expect(Page().number == 7)
    #expect(completed.value == 1)
  }

  @Test("a hook that is added by an expression is called for its value")
  func aHookThatIsAddedByAnExpressionHears() {
    final class Page {
      let heard: Counter
      @Lazy var number: Int
      init(_ heard: Counter, _ registry: InitializerRegistry) {
        self.heard = heard
        _number = Lazy(
          wrappedValue: {
            registry.onInjection { _, point in if point.propertyName == "number" { heard.increment() } }
            return 7
          }())
      }
    }
    let (registry, heard) = (InitializerRegistry(), Counter())
    let page = registry.run { Page(heard, registry) }
    #expect(page.number + page.number == 14)
    #expect(heard.value == 1)
  }

  @Test("a registration wins over the empty initializer")
  func aRegistrationWinsOverTheEmptyInitializer() {
    registry.register(Basket.self) { Basket(items: 3) }
    #expect(Screen().basket.items == 3)
  }

  @Test("resolving gives the same value as reading")
  func resolvingGivesTheSameValueAsReading() throws {
    let screen = Screen()
    let service = try screen.$service.resolve()
    #expect(screen.service === service)
    #expect(try screen.$service.resolve() === service)
  }

  @Test("re-injection leaves the value of a lazy property")
  func reinjectionLeavesTheValueAlone() throws {
    let made = Counter()
    let screen = Screen(made)
    let service = screen.service
    registry.reinject(Service.self)
    #expect(screen.service === service)
    #expect(try screen.$service.resolve() === service)
    #expect(screen.service === service)
    #expect(made.value == 1)
  }
}
