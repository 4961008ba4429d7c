/// Returns a function that checks whether a type is a subclass of the given class or conforms to the given protocol.
///
/// The runtime doesn't find a private protocol by name, so the function for a private protocol always returns false.
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
