// The comment before each mistake has the compiler's message. See .ci/check-mistakes.
import LaunchInitializers
import Spellbook

protocol Greeter: Sendable {}
struct English: Greeter { var name = "English" }

extension InjectionKeys {
  static let greeter = InjectionKey<any Greeter> { English() }
  static let time = InjectionKey<Double> { 1 }
  // says: Write a closure that makes the value, { … }, or .instance(…) for one value.
  static let instance = InjectionKey<any Greeter>(English())
}

final class Keyed {
  // says: A key has its own initializer: leave out the expression, or write registry.register(.key) { … }.
  @Injected(.greeter) var withExpression: any Greeter = English()
  // says: A declared key isn't a key path: write a dot, as in @Injected(.time).
  @Injected(\.greeter) var byKeyPath
  // says: contextual base was inferred as 'InjectionKey<English>'
  @Injected(.greeter) var ofAnotherType: English
}
final class Misspelt {
  // says: reference to member 'gretter' cannot be resolved without a contextual type
  // also says: generic parameter 'Value' could not be inferred
  @Injected(.gretter) var greeter
}
final class Expressions {
  // says: An @Injected property has no value of its own: write @Lazy, or register it.
  @Injected var greeter: any Greeter = English()
  // says: A @Partial property is loaded from a resource: write @Lazy for an expression.
  @Partial var text: String = ""
}
// says: has no initializers
final class Undecided {
  @Preference var name: String
}
final class Preferences {
  // says: A preference that is not Optional needs a default: '@Preference var name = 5'.
  @Preference("name") var name: String
  // says: static property 'volume' is not concurrency-safe
  @Preference static var volume = 5
}

func registrations(in registry: InitializerRegistry) throws {
  // says: The value has another type than the key. Return a value of the key's type.
  registry.register(.time) { "1" }
  // says: The value has another type than the key. Use an initializer of the key's type.
  registry.register(.time, .instance("1"))
  // says: Write a closure that makes the value, { … }, or .instance(…) for one value.
  registry.register(.greeter, English())
  // says: Write a closure that makes the value, { … }, or .instance(…) for one value.
  registry.register((any Greeter).self, English())
  // says: Write a closure that makes the value, { … }, or .instance(…) for one value.
  registry.register(English())
  // says: type 'Scope<any Greeter>' has no member 'shared'
  registry.register((any Greeter).self, scope: .shared) { English() }
  // says: Say which type: 'try resolve(Clock.self)', or 'let clock: Clock = try resolve()'.
  _ = try registry.resolve()
  // says: call can throw but is not marked with 'try'
  let _: any Greeter = registry.resolve()
}
func mocks(in registry: InitializerRegistry) {
  var mock = English()
  mock.name = "mock"
  // says: reference to captured var 'mock' in concurrently-executing code
  registry.register((any Greeter).self) { mock }
}
func launch(_ sequence: LaunchSequence) async {
  // says: 'sigterm' has been renamed to 'terminate'
  _ = await sequence.run(on: [.sigterm])
}
