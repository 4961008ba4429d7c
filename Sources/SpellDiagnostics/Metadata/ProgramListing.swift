internal import SpellRegistry

/// The wrapped properties of the program's types.
///
/// Types are found by the records that the compiler leaves in each image, their fields by the descriptors that reflection
/// uses. Only types that have a wrapped property are handed to the runtime; no initializer runs.
struct ProgramListing {
  private(set) var properties: [WrappedProperty] = []

  private let memory: ReadableMemory
  private let images: [MetadataSections]
  private let wrappers: Set<ContextDescriptor>
  private let resolve: (MangledName) -> (any Any.Type)?
  /// The types that declared keys may make, once a property has asked; see `findKeyTypes()`.
  private var keyTypes: Set<ObjectIdentifier>?

  /// - Parameters:
  ///   - modules: The names of the modules whose types are listed; of all if there are none.
  ///   - images: Where the images have their metadata.
  ///   - memory: What may be read of it.
  ///   - resolve: Returns the type of a mangled name.
  init(
    ofModules modules: Set<String>, in images: [MetadataSections], _ memory: ReadableMemory,
    resolve: @escaping (MangledName) -> (any Any.Type)? = { $0.type }
  ) {
    self.memory = memory
    self.resolve = resolve
    self.images = images
    let named = ContextDescriptor(ofProtocol: (any NamedProperty).self)
    wrappers = Set(images.flatMap { $0.types(conformingTo: named, in: memory) })
    for image in images {
      for type in image.declaredTypes(in: memory) where !type.isGeneric(in: memory) {
        list(type, ofModules: modules)
      }
    }
  }

  private mutating func list(_ type: ContextDescriptor, ofModules modules: Set<String>) {
    guard let descriptor = type.fields(in: memory) else { return }
    let fields = descriptor.fields(ofTypes: wrappers, in: memory)
    guard !fields.isEmpty, let containerType = descriptor.type(in: memory).flatMap(resolve) else { return }
    let place = Self.place(of: containerType)
    guard modules.isEmpty || modules.contains(place.module) else { return }
    for field in fields {
      guard let wrapper = resolve(field.type) as? any NamedProperty.Type,
        let name = field.descriptor.name(in: memory)
      else { continue }
      properties.append(
        WrappedProperty(
          field.label, of: wrapper.valueType, in: containerType, named: place.path, module: place.module, wrapper: name,
          need: wrapper.need, mayHaveKey: wrapper.need.takesNameOrKey && mayHaveKey(wrapper.valueType)))
    }
  }

  /// The module that declares a type, and the type's name with those of the types that it is declared in.
  ///
  /// The runtime's name is `Module.Outer.(unknown context at $1f0).Inner` for a private or local type, and
  /// `(extension in Module):Swift.String.Inner` for one that an extension declares.
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

  // MARK: Declared keys

  /// Whether a key of the type is declared anywhere in the program.
  private mutating func mayHaveKey(_ type: any Any.Type) -> Bool {
    let types = keyTypes ?? findKeyTypes()
    keyTypes = types
    return types.contains(ObjectIdentifier(type))
  }

  /// The types of all keys that the program declares.
  ///
  /// A key is a static, which no metadata shows, and is made when it is first used. But what makes an
  /// `InjectionKey<Value>` asks the runtime for that type by its mangled name.
  private func findKeyTypes() -> Set<ObjectIdentifier> {
    var types: Set<ObjectIdentifier> = []
    var isKey: [ContextDescriptor: Bool] = [:]
    for image in images {
      MangledName.forEach(in: image.typeNames, of: memory) { name, descriptor in
        if isKey[descriptor] == nil { isKey[descriptor] = isInjectionKey(descriptor) }
        guard isKey[descriptor] == true, name.isWhole(in: memory), let key = resolve(name) as? InjectionKeys.Type else {
          return
        }
        types.insert(ObjectIdentifier(key.valueType))
      }
    }
    return types
  }

  private func isInjectionKey(_ descriptor: ContextDescriptor) -> Bool {
    descriptor.kind(in: memory) == .class && descriptor.isGeneric(in: memory)
      && descriptor.name(in: memory) == "InjectionKey"
      && descriptor.parent(in: memory)?.name(in: memory) == "SpellRegistry"
  }
}
