import CustomSpells
import SpellTesting
import Spellbook
import Synchronization
import Testing

private class Account {
  let trail = AuditTrail()
  @Audited var owner = "nobody"
  @Audited var balance = 0
}
private final class SavingsAccount: Account {
  @Audited var rate = 2
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func increment() { count.add(1, ordering: .relaxed) }
}

@Suite("@Audited", .registry) struct AuditedTests {
  let registry = InitializerRegistry.current
  init() { registry.register(AuditTrail.self, .in(Account.self, subclasses: true) { $0.trail }) }

  @Test("reads and writes are recorded in order, by the properties' names")
  func order() {
    let account = SavingsAccount()
    account.owner = "Ada"
    account.balance += 7
    #expect(account.rate == 2)
    #expect(account.trail.lines == ["wrote owner Ada", "read balance", "wrote balance 7", "read rate"])
  }

  @Test("the check of a program lists it, and finds nothing wrong")
  func check() {
    let properties = WrappedProperty.all(inModules: "CustomSpellTests")
    let names = properties.map { "\($0.wrapper) \($0)" }
    #expect(names.contains("Audited SavingsAccount.rate"))
    #expect(InitializerRegistry().validate(properties: properties).isEmpty)
  }

  @Test("each container has its own record")
  func containers() {
    let (one, two) = (Account(), Account())
    one.balance = 1
    two.balance = 2
    #expect(one.trail.lines == ["wrote balance 1"])
    #expect(two.trail.lines == ["wrote balance 2"])
  }

  @Test("the trail is asked for once for each property")
  func once() {
    let asked = Counter()
    registry.register(
      AuditTrail.self,
      .in(Account.self) { account in
        asked.increment()
        return account.trail
      })
    let account = Account()
    for number in 1...3 { account.balance = number }
    #expect(account.$balance === account.trail)
    #expect(account.trail.lines.count == 3)
    #expect(asked.value == 1)
  }

  @Test("if nothing is registered, each property has its own trail")
  func unregistered() {
    registry.removeAll()
    let account = Account()
    account.balance = 1
    #expect(account.$balance.lines == ["wrote balance 1"])
    #expect(account.$owner.lines.isEmpty)
    #expect(account.trail.lines.isEmpty)
  }

  @Test("in a struct, where no name can be found, the place of the declaration stands for it")
  func structs() {
    struct Point { @Audited var x = 1 }
    var point = Point()
    point.x = 2
    #expect(point.x == 2)
    let place = "the property at CustomSpellTests/AuditedTests.swift:\(#line - 4)"
    #expect(point.$x.lines == ["wrote \(place) 2", "read \(place)"])
  }

  @Test("many threads that read record each read")
  func race() async {
    // `@unchecked Sendable` is safe because the tasks only read. A read changes only the trail, which a mutex guards.
    final class Shared: @unchecked Sendable { @Audited var number = 1 }
    let shared = Shared()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 { group.addTask { _ = shared.number } }
    }
    #expect(shared.$number.lines.count == 500)
  }
}
