/// Returns a test for the subclasses of a class, or for the types that conform to a protocol.
///
/// The runtime doesn't find a private protocol by name, so the test returns false for the types that conform to one.
package func subtypes(of type: any Any.Type) -> (any Any.Type) -> Bool {
  func isSubclass<Class>(_: Class.Type, _ other: any Any.Type) -> Bool { other is Class.Type }
  func isOf<Metatype>(_: Metatype.Type, _ other: any Any.Type) -> Bool { other is Metatype }
  if type is any AnyObject.Type { return { isSubclass(type, $0) } }
  // The mangled name of `any P.Type`, which contains the conforming types.
  guard _typeName(Swift.type(of: type), qualified: false).hasSuffix(".Protocol"), let name = _mangledTypeName(type),
    let metatype = _typeByName(name + "Xp")
  else { return { _ in false } }
  return { isOf(metatype, $0) }
}
