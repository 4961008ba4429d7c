internal import SpellRegistry

/// The wrapped properties of the program's types, and the types that hide theirs.
///
/// Types are found by the records that the compiler leaves in each image, their fields by the descriptors that reflection
/// uses. Only types that have a wrapped property are handed to the runtime; no initializer runs.
struct ProgramListing {
  private(set) var properties: [WrappedProperty] = []
  private(set) var hiddenTypes: [HiddenType] = []

  private struct Place {
    let module: String
    /// The names of the types that it is in, from the outermost in.
    let path: String
  }

  private let memory: ReadableMemory
  private let wrappers: Set<ContextDescriptor>
  private let resolve: (MangledName) -> (any Any.Type)?
  private var places: [ContextDescriptor: Place] = [:]
  private let images: [MetadataSections]
  /// The types that declared keys may make, once a property has asked; see `findKeyTypes()`.
  private var keyTypes: Set<ObjectIdentifier>?
  private var knownWrappers: [ContextDescriptor: Wrapper] = [:]

  /// What is the same for all properties with a wrapper.
  private struct Wrapper {
    let name: String
    let need: PropertyNeed
    /// Whether the property's type is the wrapper's first argument.
    let hasValueAsArgument: Bool
  }

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
      for type in image.declaredTypes(in: memory) {
        guard let parent = type.parent(in: memory), let place = place(of: parent) else { continue }
        if modules.isEmpty || modules.contains(place.module) { list(type) }
      }
    }
  }

  /// The types of all keys that the program declares.
  ///
  /// A key is a static, which no metadata shows, and is made when it is first used. But what makes an
  /// `InjectionKey<Value>` asks the runtime for that type by its mangled name.
  private mutating func findKeyTypes() -> Set<ObjectIdentifier> {
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

  /// Whether a key of the type is declared anywhere in the program.
  private mutating func mayHaveKey(_ type: any Any.Type) -> Bool {
    let types = keyTypes ?? findKeyTypes()
    keyTypes = types
    return types.contains(ObjectIdentifier(type))
  }

  private mutating func isInjectionKey(_ descriptor: ContextDescriptor) -> Bool {
    // Most are out of the question before any name is read.
    guard descriptor.kind(in: memory) == .class, descriptor.isGeneric(in: memory), let place = place(of: descriptor)
    else {
      return false
    }
    return place.module == "SpellRegistry" && place.path == "InjectionKey"
  }

  private mutating func list(_ type: ContextDescriptor) {
    guard let descriptor = type.fields(in: memory) else {
      if type.fieldCount(in: memory) > 0 { hide(type, because: .noReflectionMetadata, []) }
      return
    }
    let fields = descriptor.fields(ofTypes: wrappers, in: memory)
    if fields.isEmpty { return }
    if type.isGeneric(in: memory) { return hide(type, because: .generic, fields) }
    guard let containerType = descriptor.type(in: memory).flatMap(resolve), let place = place(of: type) else {
      return hide(type, because: .unknownToTheRuntime, fields)
    }
    for field in fields {
      if let fieldType = resolve(field.type), let wrapper = wrapper(of: field, fieldType),
        let valueType = valueType(of: fieldType, wrapper)
      {
        properties.append(
          WrappedProperty(
            field.label, of: valueType, in: containerType, named: place.path, module: place.module,
            wrapper: wrapper.name, need: wrapper.need,
            mayHaveKey: wrapper.need.takesNameOrKey && mayHaveKey(valueType)))
      } else {
        hide(type, because: .unknownToTheRuntime, [field])
      }
    }
  }

  /// What is known of a field's wrapper, from the first field that has it.
  private mutating func wrapper(of field: FieldDescriptor.Field, _ type: any Any.Type) -> Wrapper? {
    if let known = knownWrappers[field.descriptor] { return known }
    guard let property = type as? any NamedProperty.Type, let name = field.descriptor.name(in: memory) else {
      return nil
    }
    let wrapper = Wrapper(
      name: name, need: property.need,
      hasValueAsArgument: firstArgument(ofStruct: type) == unsafeBitCast(property.valueType, to: UInt.self))
    knownWrappers[field.descriptor] = wrapper
    return wrapper
  }

  /// The type of the property.
  ///
  /// To ask for a conformance takes a look at each conformance of the program, the first time for each type, so the
  /// argument is read from the metadata if it is known to be what the conformance would say.
  private func valueType(of type: any Any.Type, _ wrapper: Wrapper) -> (any Any.Type)? {
    if wrapper.hasValueAsArgument, let argument = firstArgument(ofStruct: type) {
      typealias AnyType = any Any.Type
      return unsafeBitCast(argument, to: AnyType.self)
    }
    return (type as? any NamedProperty.Type)?.valueType
  }

  /// The third word of a struct's metadata, after the kind and the descriptor: the first argument if it has any; nil for
  /// what isn't a struct.
  private func firstArgument(ofStruct type: any Any.Type) -> UInt? {
    let metadata = unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    return metadata[0] == 0x200 ? metadata[2] : nil
  }

  private mutating func hide(
    _ type: ContextDescriptor, because reason: HiddenType.Reason, _ fields: [FieldDescriptor.Field]
  ) {
    guard let place = place(of: type) else { return }
    let names = fields.map { WrappedProperty.name(ofLabel: $0.label) }
    hiddenTypes.append(HiddenType(name: place.path, module: place.module, reason: reason, propertyNames: names))
  }

  /// The module and the types that something is declared in, itself included; nil if they can't be told.
  private mutating func place(of context: ContextDescriptor, depth: Int = 0) -> Place? {
    if let place = places[context] { return place }
    // Contexts are nested a few deep, unless a parent leads back to its child.
    guard depth < 64, let kind = context.kind(in: memory) else { return nil }
    let place: Place?
    if kind == .module {
      place = context.name(in: memory).map { Place(module: $0, path: "") }
    } else {
      guard let parent = context.parent(in: memory), let outer = self.place(of: parent, depth: depth + 1) else {
        return nil
      }
      switch kind {
      case .module, .anonymous: place = outer
      case .extension:
        place = pathOfType(extendedBy: context, depth: depth).map { Place(module: outer.module, path: $0) }
      case .protocol, .class, .struct, .enum:
        place = context.name(in: memory).map { name in
          Place(module: outer.module, path: outer.path.isEmpty ? name : "\(outer.path).\(name)")
        }
      }
    }
    places[context] = place
    return place
  }

  private mutating func pathOfType(extendedBy context: ContextDescriptor, depth: Int) -> String? {
    guard let name = context.extendedType(in: memory) else { return nil }
    if let type = MangledName.firstDescriptor(ofNameAt: name, in: memory) {
      return place(of: type, depth: depth + 1)?.path
    }
    return MangledName(at: name, in: memory).flatMap(resolve).map { "\($0)" }
  }
}
