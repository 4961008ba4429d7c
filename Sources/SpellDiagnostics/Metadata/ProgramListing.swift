internal import SpellRegistry

/// A list of the wrapped properties of the program's types.
///
/// The types are found in the records that the compiler leaves in each image. Their fields are found in the descriptors
/// that reflection uses. The runtime is asked only for the types that have a wrapped property, for the types of the
/// wrappers, and for the types of declared keys. No initializer runs.
struct ProgramListing {
  private(set) var properties: [WrappedProperty] = []

  private let images = LoadedImages.sections
  /// The types of the values of all declared keys; nil until `findKeyTypes()` has found them.
  private var keyTypes: Set<ObjectIdentifier>?

  /// - Parameter modules: The names of the modules whose types are listed. An empty set lists all modules.
  init(ofModules modules: Set<String>) {
    let named = ContextDescriptor.address(ofProtocol: (any NamedProperty).self)
    let wrappers = Set(images.flatMap { $0.types(conformingTo: named) })
    for type in images.flatMap(\.declaredTypes) where !type.isGeneric {
      guard let descriptor = type.fields, case let fields = descriptor.fields(ofTypes: wrappers), !fields.isEmpty,
        let containerType = descriptor.type?.type, case let place = Self.place(of: containerType),
        modules.isEmpty || modules.contains(place.module)
      else { continue }
      for field in fields {
        guard let wrapper = field.type.type as? any NamedProperty.Type else { continue }
        let need = (wrapper as? any NeedingProperty.Type)?.need ?? PropertyNeed(.unknown, asksForValue: false)
        properties.append(
          WrappedProperty(
            field.label, of: wrapper.valueType, in: containerType, named: place.path, module: place.module,
            wrapper: field.descriptor.name, need: need,
            mayHaveKey: need.takesNameOrKey && mayHaveKey(wrapper.valueType)))
      }
    }
  }

  /// Returns the module that declares a type, and the type's name after the names of its enclosing types.
  ///
  /// The runtime's name is `Module.Outer.(unknown context at $1f0).Inner` for a private or local type, and
  /// `(extension in Module):Swift.String.Inner` for a type that an extension declares.
  private static func place(of type: any Any.Type) -> (module: String, path: String) {
    var name = _typeName(type, qualified: true)[...]
    var module: Substring?
    while name.hasPrefix("(extension in "), let end = name.firstRange(of: "):") {
      module = module ?? name[..<end.lowerBound].dropFirst("(extension in ".count)
      name = name[end.upperBound...]
    }
    let parts = name.split(separator: ".").filter { !$0.hasPrefix("(unknown context at ") }
    return (String(module ?? parts.first ?? ""), parts.dropFirst().joined(separator: "."))
  }

  /// Returns whether the program declares a key whose values have the given type.
  ///
  /// For an Optional of a class or of a class-only protocol, a key of the wrapped type also counts.
  private mutating func mayHaveKey(_ type: any Any.Type) -> Bool {
    let types = keyTypes ?? findKeyTypes()
    keyTypes = types
    if types.contains(ObjectIdentifier(type)) { return true }
    guard let wrapped = (type as? any OptionalValue.Type)?.wrappedType else { return false }
    return TypeName.isHeldByReference(wrapped) && mayHaveKey(wrapped)
  }

  /// Returns the types of the values of all keys that the program declares.
  ///
  /// A key is a static constant, which is created at its first use and doesn't occur in the metadata. But the code that
  /// creates an `InjectionKey<Value>` asks the runtime for this type by the type's mangled name, which does occur in
  /// the metadata. Keys that a generic function creates are found only if the compiler specializes the function;
  /// otherwise, the metadata has no mangled name with the concrete type.
  private func findKeyTypes() -> Set<ObjectIdentifier> {
    let keyClass = images.lazy.flatMap(\.declaredTypes).first {
      $0.kind == .class && $0.isGeneric && $0.name == "InjectionKey" && $0.parent?.name == "SpellRegistry"
    }
    var types: Set<ObjectIdentifier> = []
    for image in images {
      MangledName.forEach(in: image.typeNames) { name in
        // The section also has entries of other forms, whose bytes must not be read as pointers.
        guard name.hasArguments, MangledName.firstDescriptor(ofNameAt: name.address) == keyClass,
          let key = name.type as? InjectionKeys.Type
        else { return }
        types.insert(ObjectIdentifier(key.valueType))
      }
    }
    return types
  }
}
