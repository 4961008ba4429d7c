// The comment before each mistake has the compiler's message. See .ci/check-mistakes.
import LaunchInitializers
import Spellbook

protocol Greeter: Sendable {}
struct English: Greeter { var name = "English" }
struct Audio: Sendable {
  var name = ""
  var play: @Sendable () -> Void = {}
}

extension InjectionKeys {
  static let greeter = InjectionKey<any Greeter> { English() }
  static let time = InjectionKey<Double> { 1 }
  static let audio = InjectionKey { Audio() }
  static let seat = InjectionKey(.factory { (_, number: Int) in "seat \(number)" })
  // says: Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).
  static let instance = InjectionKey<any Greeter>(English())
  // says: Write the label: InjectionKey(scope: .singleton) { … }.
  static let kept = InjectionKey<any Greeter>(.singleton) { English() }
}

final class Keyed {
  // says: A key has its own initializer: leave out the expression, or write registry.register(.key) { … }.
  @Injected(.greeter) var withExpression: any Greeter = English()
  // says: A declared key isn't a key path: write a dot, as in @Injected(.time).
  @Injected(\.greeter) var byKeyPath
  // says: Leave out the type, which is the key's, as in @Injected(.time) var time.
  @Injected(.greeter) var ofAnotherType: English
}
final class Arguments {
  // says: The type follows the name, as in @Injected var clock: Clock.
  @Injected(English.self) var byType: English
  // says: A part isn't injected: write @Injected(.audio) var audio, and audio.play.
  @Injected(.audio, \.play) var play
  // says: A property has no scope. Write it where the service is registered: register(scope: .singleton) { … }.
  @Injected(scope: .singleton) var kept: any Greeter
  // says: A property has no scope. Write it where the service is registered: register(scope: .singleton) { … }.
  @Injected(.audio, scope: .singleton) var keptAudio
  // the compiler says: extraneous argument label 'named:' in call
  @Injected(named: "main") var named: any Greeter
}
// says: has no initializers
final class Opaque {
  // the compiler says: property declares an opaque return type, but cannot infer the underlying type from its initializer expression
  // says: generic parameter 'Value' could not be inferred
  @Injected var greeter: some Greeter
}
final class Misspelt {
  // the compiler says: reference to member 'gretter' cannot be resolved without a contextual type
  // says: generic parameter 'Value' could not be inferred
  @Injected(.gretter) var greeter
}
final class Expressions {
  // says: An @Injected property has no value of its own: write @Lazy, or register it.
  @Injected var greeter: any Greeter = English()
  // says: A @Partial property is loaded from a resource: write @Lazy for an expression.
  @Partial var text: String = ""
}
final class OfItsObject {
  var path = "start"
  // the compiler says: cannot use instance member 'path' within property initializer; property initializers run before 'self' is available
  @Lazy var database = Audio(name: path)
}
// the compiler says: has no initializers
final class Undecided {
  @Preference var name: String
}
final class Preferences {
  // says: A preference that is not Optional needs a default: '@Preference var name = 5'.
  @Preference("name") var name: String
  // the compiler says: static property 'volume' is not concurrency-safe
  @Preference static var volume = 5
}

func registrations(in registry: InitializerRegistry) throws {
  // says: The value has another type than the key. Return a value of the key's type.
  registry.register(.time) { "1" }
  // says: The value has another type than the key. Use an initializer of the key's type.
  registry.register(.time, .instance("1"))
  // says: Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).
  registry.register(.greeter, English())
  // says: Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).
  registry.register((any Greeter).self, English())
  // says: Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).
  registry.register(English())
  // says: Write a closure that makes the value, { … }, .instance(…) or .autowire(T.init).
  registry.register(English.init)
  // says: The closure returns a function, and not what it makes: call it, as in { T() }, or write .autowire(T.init).
  registry.register((any Greeter).self) { English.init }
  // says: The value has another type than the key. Return a value of the key's type.
  registry.register(.greeter) { try $0.resolve(Audio.self) }
  // says: A declared key isn't a key path: write a dot, as in register(.time) { … }.
  registry.register(\.greeter) { English() }
  // says: Return a value of the key's type, or change its value: try override(.key) { $0.member = … }.
  registry.register(.audio) { $0.play = {} }
  // says: The label is named:, as in register(Clock.self, named: "main") { … }.
  registry.register((any Greeter).self, name: "main") { _ in English() }
  // says: Write .singleton or, for as long as something holds the value, .weak.
  registry.register((any Greeter).self, scope: .shared) { English() }
  // says: 'transient' has been renamed to 'unique'
  registry.register((any Greeter).self, scope: .transient) { English() }
  // says: Write the scope before the closure, as in register(scope: .singleton) { … }.
  // says: 'container' has been renamed to 'singleton'
  registry.register { English() }.inObjectScope(.container)
  // says: Write the label: register((any Tracker).self, scope: .singleton) { … }.
  registry.register((any Greeter).self, .singleton) { English() }
  // says: Write the label: register(scope: .singleton) { … }.
  registry.register(.singleton) { English() }
  // says: Write the label: register(.key, scope: .singleton) { … }.
  registry.register(.greeter, .singleton) { English() }
  // says: Write the label: register(Clock.self, named: "main") { … }.
  registry.register(English.self, "main") { English() }
  // says: Register for the protocol: register((any Tracker).self) { FileTracker() }.
  registry.register(English.self, as: (any Greeter).self)
  // says: Register for the protocol: register((any Tracker).self) { FileTracker() }.
  registry.register(as: (any Greeter).self) { English() }
  // says: Register for the protocol: register((any Tracker).self) { FileTracker() }.
  registry.register { English() }.as((any Greeter).self)
  // says: The closure of a factory gets a resolver first: .factory { (resolver, number: Int) in … }.
  registry.register(.factory { (number: Int) in Double(number) })
  // says: A value that takes arguments comes from a factory: register(.factory { (resolver, number: Int) in … }).
  registry.register(Double.self) { (_, number: Int) in Double(number) }
  // says: A value that takes arguments comes from a factory: register(.factory { (resolver, number: Int) in … }).
  registry.register(Double.self) { (number: Int) in Double(number) }
  // says: removeAll() withdraws registrations, and reset() of a ScopeCache drops values.
  registry.reset()
  // says: A declared key isn't a key path: write a dot, as in resolve(.time).
  _ = try registry.resolve(\.greeter)
  // says: Ask a registry for it, with try resolve(Clock.self).
  let _: English = Resolver.resolve()
  // says: Ask a registry for Clock?, with try resolve(Clock?.self).
  let _: English? = Resolver.optional()
  // says: Say which type: 'try resolve(Clock.self)', or 'let clock: Clock = try resolve()'.
  _ = try registry.resolve()
  // the compiler says: cannot convert value of type 'String' to expected argument type 'Int'
  _ = try registry.resolve(.seat, arguments: "7")
  // says: The key's value has another type. For what the key's factory makes, write resolve(.key, arguments: …).
  let _: String = try registry.resolve(.seat)
  // says: The key's factory makes values of another type than the one expected here.
  let _: Int = try registry.resolve(.seat, arguments: 7)
  // the compiler says: cannot convert value of type 'Int' to expected argument type 'Never'
  _ = try registry.resolve(.time, arguments: 7)
  // says: Write the label: resolve(Ticket.self, arguments: 7), or named: "main".
  _ = try registry.resolve(English.self, 7)
  // says: Write the label: resolve(.seat, arguments: 7), or named: "main".
  _ = try registry.resolve(.seat, 7)
  // says: Write the label: resolve(.seat, arguments: 7), or named: "main".
  _ = try registry.resolve(.time, "main")
  // says: Pass a type, resolve(Clock.self), or a key, resolve(.time). A name has a label.
  _ = try registry.resolve(English())
  // says: Pass a type, resolve(Clock.self), or a key, resolve(.time). A name has a label.
  let _: English = try registry.resolve("main")
  // says: type 'Any' has no member 'thyme'
  _ = try registry.resolve(.thyme)
  // the compiler says: call can throw but is not marked with 'try'
  let _: any Greeter = registry.resolve()
}
func requests(of resolver: Resolver) async throws {
  // says: cannot convert value of type 'String' to expected argument type 'Int'
  _ = try resolver.resolve(.seat, arguments: "7")
  // says: The key's value has another type. For what the key's factory makes, write resolve(.key, arguments: …).
  let _: String = try resolver.resolve(.seat)
  // says: Say which type: 'try resolve(Clock.self)', or 'let clock: Clock = try resolve()'.
  _ = try resolver.resolve(arguments: 7)
  // says: The key's value has another type than the one expected here.
  let _: String = try await resolver.resolveAsync(.time)
}
func mocks(in registry: InitializerRegistry) {
  var mock = English()
  mock.name = "mock"
  // the compiler says: reference to captured var 'mock' in concurrently-executing code
  registry.register((any Greeter).self) { mock }
}
@MainActor final class Model { init(greeter: any Greeter) {} }
func mainActor(in registry: InitializerRegistry, greeter: any Greeter) {
  // the compiler says: call to main actor-isolated initializer 'init(greeter:)' in a synchronous nonisolated context
  registry.register { Model(greeter: greeter) }
  // the compiler says: loses global actor 'MainActor'
  registry.register { @MainActor in Model(greeter: greeter) }
  // says: loses global actor 'MainActor'
  registry.register(.autowire(Model.init))
  // the compiler says: cannot pass function of type '@Sendable () async -> Model' to parameter expecting synchronous function type
  registry.register(Model.self) { await Model(greeter: greeter) }
}
func launch(_ sequence: LaunchSequence) async {
  // says: 'sigterm' has been renamed to 'terminate'
  _ = await sequence.run(on: [.sigterm])
}
