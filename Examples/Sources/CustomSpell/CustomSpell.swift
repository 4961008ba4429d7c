import CustomSpells
import Spellbook

/// A music player that prints what its observer hears.
final class Player: InjectionObserver {
  @Clamped(0...10) var volume = 5

  func didInject(_ value: Any, intoProperty name: String) { print("\(name) is \(value)") }
}

/// A bank account whose properties write into one trail.
final class Account {
  let trail = AuditTrail()
  @Audited var owner = "nobody"
  @Audited var balance = 0
}

/// Shows the two spells at work.
@main enum CustomSpell {
  static func main() {
    let player = Player()
    player.volume = 7
    player.volume = 12

    InitializerRegistry.shared.register(AuditTrail.self, in: Account.self) { account in account.trail }
    let account = Account()
    account.owner = "Ada"
    account.balance += 7
    for line in account.trail.lines { print(line) }
  }
}
