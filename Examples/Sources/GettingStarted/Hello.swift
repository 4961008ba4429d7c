import Spellbook

protocol Greeter: Sendable {
  func greeting(for name: String) -> String
}
struct EnglishGreeter: Greeter {
  func greeting(for name: String) -> String { "Hello, \(name)!" }
}

extension InjectionKeys {
  static let greeter = InjectionKey<any Greeter> { EnglishGreeter() }
}

final class Reception {
  @Injected(.greeter) var greeter
  @Lazy var guestBook = [String]()
  @Preference var welcomes = 0

  func welcome(_ name: String) -> String {
    guestBook.append(name)
    welcomes += 1
    return greeter.greeting(for: name)
  }
}

@main struct Hello {
  static func main() {
    let reception = Reception()
    print(reception.welcome("Ada"))
    print("Guest book: \(reception.guestBook)")
    print("Welcomes: \(reception.welcomes)")
  }
}
