import SpellTesting
import Spellbook

protocol Courier: Sendable {}
struct Bike: Courier {}
final class Address: Sendable {}
final class Lamp: Sendable {}
struct Theme: Codable, Sendable {}

class Office {
  @Injected var courier: any Courier
  var rooms = 3
}
final class Branch: Office { @Injected private var address: Address }
actor Clerk { @Injected("night") var courier: any Courier }
@MainActor final class Window { @Injected var lamp: Lamp? }
struct Desk {
  @Injected var lamp: Lamp
  @Lazy var note = "made when it is read"
  var drawer: Injected<Lamp>?
}
enum Hidden {
  final class Archive {
    @Lazy var lamp: Lamp
    @Lazy var files: [String]
    private class Shelf { @Final var number: Int }
  }
}
extension Hidden.Archive { final class Index { @Partial var theme: Theme } }
extension String { final class Reader { @Preference var position = 0 } }
final class Constants: Sendable { let courier = Injected<any Courier>() }
class Generic<Item> {
  @Injected var item: Item
  class Nested { @Injected var lamp: Lamp }
}
final class OfInts: Generic<Int> { @Injected(.everyRead) var address: Address }
final class Tower {
  @Injected var courier: (any Courier)?
  @Lazy var spare: (any Courier)?
}
// `@unchecked Sendable`: the class and its subclass have no properties.
class Mailbox: @unchecked Sendable {}
final class Parcel: Mailbox, @unchecked Sendable {}
extension InjectionKeys { static let mailbox = InjectionKey(scope: .singleton) { Mailbox() } }
final class Post {
  @Injected(.mailbox) var mailbox
  @Injected(.mailbox, .weak) var lost
  @Custom var stamps: Mailbox
}
final class Plain { var lamp = Lamp() }
/// One of two classes of this name in the module.
private final class Locker { @Lazy var lamp: Lamp }

/// A spell that declares its needs.
@propertyWrapper struct Custom<Value>: NeedingProperty {
  var storage: PropertyStorage<Value>
  var identity: PropertyIdentity { storage.identity }
  static var need: PropertyNeed { PropertyNeed(.required, asksForValue: false, services: [Address.self]) }
  init(line: UInt = #line) {
    storage = PropertyStorage(at: SourcePlace(fileID: #fileID, line: line))
  }
  var wrappedValue: Value {
    get { fatalError("No test reads it.") }
    set { storage = storage.replaced(with: newValue) }
  }
}
@propertyWrapper struct Silent: NamedProperty {
  typealias Value = Int
  var wrappedValue = 0
  private let storage = PropertyStorage<Int>(at: SourcePlace(fileID: #fileID, line: #line))
  var identity: PropertyIdentity { storage.identity }
}
final class Widget {
  @Custom var number: Int
  @Silent var count
}

func makeLocal() -> Any {
  final class Local { @Injected var lamp: Lamp }
  return Local.self
}
