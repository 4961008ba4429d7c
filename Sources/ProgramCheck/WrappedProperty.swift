public import SpellRegistry

/// A property of the running program that has a wrapper, found without an object.
///
/// ```swift
/// @Test func everyPropertyIsServed() {
///   registerServices(in: .current)
///   let properties = WrappedProperty.all(inModules: "MyApp")
///   #expect(InitializerRegistry.current.validate(properties: properties).isEmpty)
/// }
/// ```
///
/// A wrapper is any type that is a `NamedProperty`: those of this package, and spells of your own. A constant, as
/// `let clock = Injected<Clock>()`, is listed too. Statics, locals and inherited properties aren't; the latter are the
/// superclass's.
public struct WrappedProperty: Sendable, CustomStringConvertible {
  /// The property's name.
  public let name: String
  /// The wrapper's name, such as `Injected`.
  public let wrapper: String
  /// The type of the property.
  public let valueType: any Any.Type
  /// The type that declares the property.
  public let containerType: any Any.Type
  /// The name of the module that declares the type.
  public let module: String
  /// What becomes of the property if nothing is registered for it, as far as its wrapper and its type tell.
  public var necessity: PropertyNeed.Necessity { declaration.necessity }
  /// The name of the type that declares the property, with those of the types that it is declared in.
  let containerName: String
  /// The property as a request to a registry.
  let declaration: DeclaredProperty

  init(
    _ label: String, of valueType: any Any.Type, in containerType: any Any.Type, named containerName: String,
    module: String, wrapper: String, need: PropertyNeed, mayHaveKey: Bool
  ) {
    name = Self.name(ofLabel: label)
    self.wrapper = wrapper
    self.valueType = valueType
    self.containerType = containerType
    self.containerName = containerName
    self.module = module
    // A constant is the wrapper itself, and a struct's property asks like one: with no name, and for no container.
    let container: (any AnyObject.Type)? = name == label ? nil : containerType as? any AnyObject.Type
    declaration = DeclaredProperty(
      "\(containerName).\(name)", of: valueType, need: need, mayHaveKey: mayHaveKey,
      name: container == nil ? nil : name, in: container)
  }

  /// The property and the types that it is in: `Menu.Item.price`.
  public var description: String { declaration.description }

  static func name(ofLabel label: String) -> String { label.hasPrefix("_") ? String(label.dropFirst()) : label }
}

// MARK: Listing

extension WrappedProperty {
  /// Whether the program's types can be listed here.
  ///
  /// True on Linux, Android and the 64-bit systems of Apple; elsewhere, and in a build with signed pointers (arm64e), the
  /// lists are empty.
  public static var isSupported: Bool { LoadedImages.isSupported }

  /// Returns the properties of the running program that have a wrapper, those of private and nested types included.
  ///
  /// Nothing is made: types are found by what the compiler tells the runtime of them, in every image that is loaded. What
  /// ``hiddenTypes(inModules:)`` lists is left out. Costs a few microseconds for each property, and less than one for each
  /// other type; nothing is kept, so a test lists the properties once. Safe to call from any thread, while no image is
  /// being unloaded.
  ///
  /// - Parameter modules: The names of the modules whose types are listed, as in `import`; all modules of the program if
  ///   there are none. The linker leaves out what a program doesn't use of a library.
  public static func all(inModules modules: String...) -> [WrappedProperty] { listing(of: modules).properties }

  /// Returns the types whose wrapped properties can't be told: generic types that have some, and types without reflection
  /// metadata.
  ///
  /// - Parameter modules: The names of the modules whose types are listed; all modules of the program if there are none.
  public static func hiddenTypes(inModules modules: String...) -> [HiddenType] { listing(of: modules).hiddenTypes }

  private static func listing(of modules: [String]) -> ProgramListing {
    let memory = LoadedImages.readableMemory()
    return ProgramListing(ofModules: Set(modules), in: LoadedImages.sections(in: memory), memory)
  }
}
