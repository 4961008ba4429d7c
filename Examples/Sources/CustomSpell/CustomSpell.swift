import CustomSpells
import Spellbook

/// A bank account whose audited properties record their accesses in one `AuditTrail`.
final class Account {
  let trail = AuditTrail()
  @Audited var owner = "nobody"
  @Audited var balance = 0
}

/// A program that demonstrates the custom property wrapper `@Audited`.
@main enum CustomSpell {
  static func main() {
    InitializerRegistry.shared.register(AuditTrail.self, .in(Account.self) { account in account.trail })
    let account = Account()
    account.owner = "Ada"
    account.balance += 7
    for line in account.trail.lines { print(line) }
  }
}
