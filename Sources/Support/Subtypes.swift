/// Returns a function that checks whether another type is a subtype of `type`.
///
/// The subtypes of a class are the class itself and its subclasses. The subtypes of `any P` are the types that conform
/// to `P`. If `type` is anything else, or a protocol with generic arguments, the returned function always returns
/// false. The same is true of a private protocol, because the runtime doesn't find the protocol by name.
package func subtypes(of type: any Any.Type) -> (any Any.Type) -> Bool {
  func isSubclass<Class>(_: Class.Type, _ other: any Any.Type) -> Bool { other is Class.Type }
  func isOf<Metatype>(_: Metatype.Type, _ other: any Any.Type) -> Bool { other is Metatype }
  if type is any AnyObject.Type { return { isSubclass(type, $0) } }
  // The metatype `any P.Type`, whose values are the conforming types, has the mangled name of `any P` with "Xp" added.
  guard _typeName(Swift.type(of: type), qualified: false).hasSuffix(".Protocol"), let name = _mangledTypeName(type),
    let metatype = _typeByName(name + "Xp")
  else { return { _ in false } }
  return { isOf(metatype, $0) }
}
