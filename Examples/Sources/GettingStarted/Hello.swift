import Spellbook

protocol Greeter: Sendable {
  func greeting(for name: String) -> String
}
struct EnglishGreeter: Greeter {
  func greeting(for name: String) -> String { "Hello, \(name)!" }
}

final class Reception {
  @Injected var greeter: any Greeter
  @Lazy var visitors: [String]
  @Preference var visits = 0

  func welcome(_ name: String) -> String {
    visitors.append(name)
    visits += 1
    return greeter.greeting(for: name)
  }
}

@main struct Hello {
  static func main() {
    let registry = InitializerRegistry.shared
    registry.register((any Greeter).self) { EnglishGreeter() }
    let reception = Reception()
    print(reception.welcome("Ada"))
    print("Visitors: \(reception.visitors)")
    print("Visits: \(reception.visits)")
  }
}
