// A program that registers a value, reads it through a property, and resolves it.
import FinalSpell

final class Page { @Final var value: Int }

let registry = InitializerRegistry()
registry.register(scope: .singleton, .init { 7 })
let page = registry.run { Page() }
print(page.value, page.$value.hasValue, try registry.resolve(Int.self))
