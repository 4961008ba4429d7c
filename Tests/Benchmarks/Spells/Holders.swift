import Spellbook

/// An object with one property.
protocol Holder: AnyObject {
  associatedtype Value
  init()
  var value: Value { get }
}

/// An object whose property is assigned after the object has been made.
protocol AssignedHolder: Holder {
  var value: Value { get set }
}

final class LazyInt: Holder { @Lazy var value = 7 }
final class LazyText: Holder { @Lazy var value = longText }
final class LazyThing: Holder { @Lazy var value = Thing() }
final class InjectedInt: Holder { @Injected var value: Int }
final class InjectedText: Holder { @Injected var value: String }
final class InjectedThing: Holder { @Injected var value: Thing }
final class TransientInt: Holder { @Injected(.everyRead) var value: Int }
final class TransientText: Holder { @Injected(.everyRead) var value: String }
final class TransientThing: Holder { @Injected(.everyRead) var value: Thing }
final class FinalInt: AssignedHolder { @Final var value: Int }
final class FinalText: AssignedHolder { @Final var value: String }
final class FinalThing: AssignedHolder { @Final var value: Thing }
final class LazyVarInt: Holder { lazy var value = 7 }
final class LazyVarText: Holder { lazy var value = longText }
final class LazyVarThing: Holder { lazy var value = Thing() }
final class StoredInt: AssignedHolder { var value = 7 }
final class StoredText: AssignedHolder { var value = "" }
final class StoredThing: AssignedHolder { var value = Thing() }

/// An object whose initializer creates the property's value.
final class HandMadeThing: Holder {
  let value: Thing
  init() { value = Thing() }
}
