import LazySpell
import SpellRegistry
import SpellTesting
import Synchronization
import TestSupport
import Testing

@Suite("Changing a @Lazy value", .registry) struct ChangeTests {
  final class Page {
    @Lazy var tags: [Int]
    @Lazy var title = "page"
  }

  @Test("a change creates the value first if there is none, and a reset lets the next read create another")
  func change() {
    let page = Page()
    page.title += "!"
    #expect(page.title == "page!")
    page.$title.reset()
    #expect(page.title == "page")
  }

  @Test("two objects that were given one wrapper share its value until one of them assigns it")
  func shared() {
    final class Holder {
      @Lazy var tags: [Int]
      init(_ tags: Lazy<[Int]>) { _tags = tags }
    }
    let wrapper = Lazy<[Int]>()
    let (one, two) = (Holder(wrapper), Holder(wrapper))
    #expect(one.tags.isEmpty)
    #expect(two.$tags.hasValue)
    one.tags = [1]
    one.tags.append(2)
    #expect(two.tags.isEmpty)
    #expect(one.tags == [1, 2])
  }

  @Test("objects whose expressions create one another without end get an error before the stack overflows")
  func endless() throws {
    final class Node {
      @Lazy var next = Node()
      static let errors = Errors()
      init() {
        do throws(InjectionError) { try $next.resolve() } catch { Node.errors.note(error.code) }
      }
    }
    _ = Node()
    #expect(Node.errors.codes == [.stackExhausted])
  }

  private final class Nested: DefaultInitializable {
    @Lazy var next: Nested
    static let errors = Errors()
    init() {
      do throws(InjectionError) { try $next.resolve() } catch { Nested.errors.note(error.code) }
    }
  }

  @Test("objects whose empty values create one another without end get an error before the stack overflows")
  func endlessEmptyValues() {
    _ = Nested()
    #expect(Nested.errors.codes == [.stackExhausted])
  }

  final class Errors: Sendable {
    private let noted = Mutex<[InjectionError.Code]>([])
    var codes: [InjectionError.Code] { noted.withLock(\.self) }
    func note(_ code: InjectionError.Code) { noted.withLock { $0.append(code) } }
  }
}
