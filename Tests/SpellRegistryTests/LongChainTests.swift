import SpellRegistry
import TestSupport
import Testing

private final class Container {
  let depth: Int
  @Spell var number: Int
  init(_ depth: Int) { self.depth = depth }
}

@Suite("A long chain isn't a cycle", .timeLimit(.hang)) struct LongChainTests {
  let registry = InitializerRegistry()

  @Test("of 5,000 constants that need one another")
  func constants() async {
    let value = await onThread(stackSize: 512 << 20) {
      var spells = [Spell(wrappedValue: 1)]
      for index in 1..<5_000 { spells.append(Spell(wrappedValue: spells[index - 1].wrappedValue + 1)) }
      return spells[4_999].wrappedValue
    }
    #expect(value == 5_000)
  }

  @Test("of 1,000 containers, each made by the property of the one before")
  func containers() async {
    let registry = registry
    registry.register(
      Int.self,
      .in(Container.self) { container in
        container.depth == 0 ? 0 : Container(container.depth - 1).number + 1
      })
    #expect(await onThread(stackSize: 256 << 20) { registry.run { Container(1_000) }.number } == 1_000)
  }

  /// Registers a chain of singletons, each of which requests the next by name.
  private func registerChain(_ length: Int) {
    for index in 0..<length {
      registry.register(Int.self, named: .equal(to: "\(index)"), scope: .singleton) {
        index == length - 1 ? 1 : try $0.resolve(Int.self, named: "\(index + 1)") + 1
      }
    }
  }

  @Test("at the end of the stack it is an error, with the whole path, and the chain resolves on a larger one")
  func stackEnd() async {
    let registry = registry
    registerChain(3_000)
    let error = await onThread(stackSize: 512 << 10) { registry.error(resolving: Int.self, named: "0") }
    #expect(error?.code == .stackExhausted)
    #expect(error?.path.count ?? 0 > 10)
    #expect(error?.path.allSatisfy { $0 == "Int" } == true)
    #expect(error?.description.contains("would overflow its thread's stack") == true)
    #expect(error?.description.contains("resolve it on a thread with a larger stack") == true)
    #expect(await onThread(stackSize: 256 << 20) { try? registry.resolve(Int.self, named: "0") } == 3_000)
  }

  @Test("properties that make one another without end are a cycle on a thread of any size", arguments: [512, 8_192])
  func endless(kibibytes: Int) async {
    let registry = registry
    registry.register(
      Int.self,
      .in(Container.self) { container in
        let next = registry.run { Container(container.depth + 1) }
        return try next.$number.resolve(in: next) + 1
      })
    let code = await onThread(stackSize: kibibytes << 10) { () -> InjectionError.Code? in
      let first = registry.run { Container(0) }
      do throws(InjectionError) {
        _ = try first.$number.resolve(in: first)
        return nil
      } catch { return error.code }
    }
    #expect(code == .cycle)
  }

  private struct Eight<Part: Sendable>: Sendable {
    var parts: (Part, Part, Part, Part, Part, Part, Part, Part)
    init(_ part: Part) { parts = (part, part, part, part, part, part, part, part) }
  }
  private typealias Table = Eight<Eight<Eight<Eight<(UInt64, UInt64)>>>>

  @Test("and a singleton of 64 KiB is made or an error, on a thread with little stack")
  func largeValue() async {
    let registry = registry
    registry.register(Table.self, scope: .singleton) { Table(Eight(Eight(Eight((7, 8))))) }
    let isMade = await onThread(stackSize: 512 << 10) { () -> Bool? in
      do throws(InjectionError) { return try registry.resolve(Table.self).parts.7.parts.7.parts.7.parts.7.1 == 8 } catch
      {
        return error.code == .stackExhausted
      }
    }
    #expect(isMade == true)
  }
}
