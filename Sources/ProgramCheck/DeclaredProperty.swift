internal import SpellRegistry

/// A wrapped property as its declaration tells of it, with no object.
struct DeclaredProperty {
  /// What the property is called in a message, as `Page.tracker`.
  let description: String
  /// The types that the property asks for, one after the other; a registration of one suffices.
  let types: [any Any.Type]
  /// What becomes of the property if nothing serves it.
  let necessity: PropertyNeed.Necessity
  /// The name that it asks with; nil for one that asks with none.
  let name: String?
  /// Whether the declaration may give another name, or a key.
  let takesNameOrKey: Bool
  /// The class that declares it; nil for a struct's property, and for a constant, which ask for no container.
  let containerType: (any AnyObject.Type)?

  init(
    _ description: String, of valueType: any Any.Type, need: PropertyNeed, mayHaveKey: Bool, name: String?,
    in containerType: (any AnyObject.Type)?
  ) {
    self.description = description
    types = (need.asksForValue ? [valueType] : []) + need.services
    let isOptional = types.count == 1 && need.asksForValue && wrappedType(of: valueType) != nil
    necessity = isOptional ? .optional : mayHaveKey ? .unknown : need.necessity
    self.name = name
    takesNameOrKey = need.takesNameOrKey
    self.containerType = containerType
  }
}

/// The type that an Optional type wraps; nil for another type.
///
/// A type that is asked for the first time whether it conforms to a protocol is compared with every conformance in the
/// program, so the metadata's first word is asked before: the kind of type, 0x202 for an Optional.
private func wrappedType(of type: any Any.Type) -> (any Any.Type)? {
  guard unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee == 0x202 else { return nil }
  return (type as? any OptionalValue.Type)?.wrappedType
}

extension InitializerRegistry {
  /// The type of a registration that serves a property, or may: the one that wins for an object of the declaring class,
  /// else one for a subclass of it, or for another name if the declaration may give one; nil if there is none.
  func typeServing(_ property: DeclaredProperty) -> (any Any.Type)? {
    for type in property.types {
      let wrapped = wrappedType(of: type)
      for owner in lineage {
        if let served = owner.typeServing(property, as: type, withInstances: wrapped == nil) {
          return served
        }
        if let wrapped, let served = owner.typeServing(property, as: wrapped, withInstances: true) {
          return served
        }
      }
    }
    return nil
  }

  /// The same for one of the types that the property asks for, in this registry's own table.
  private func typeServing(
    _ property: DeclaredProperty, as type: any Any.Type, withInstances: Bool
  ) -> (any Any.Type)? {
    let winner = winner(
      for: Service(type), named: property.name, in: property.containerType, withInstances: withInstances)
    if let winner { return winner.type }
    return ownRegistrations(for: type).last { candidate in
      candidate.mayServe(property)
        && (candidate.key.servesSupertypes ? withInstances && candidate.serves(Service(type)) : true)
    }?.type
  }

  /// The error of a property that needs a registration and has none.
  func missing(_ property: DeclaredProperty) -> InjectionError? {
    // The last is what is registered for many properties, as a loader is.
    property.types.last.map { missing($0, step: InjectionStep(Service($0), property: property.description)) }
  }
}

extension RegistrationStorage {
  /// Whether this is for some object that has the property, under a name that the property may ask with.
  fileprivate func mayServe(_ property: DeclaredProperty) -> Bool {
    if let constraint = key.container {
      guard let container = property.containerType else { return false }
      guard constraint.includes(container) || constraint.isBelow(container) else { return false }
    }
    guard let name = key.name, !property.takesNameOrKey else { return true }
    return name.rank(for: property.name) != nil
  }
}

extension ClassConstraint {
  /// Whether the constraint is for a subclass of a class.
  fileprivate func isBelow(_ container: any AnyObject.Type) -> Bool {
    func isSubclass<Container: AnyObject>(of _: Container.Type) -> Bool { type is Container.Type }
    return isSubclass(of: container)
  }
}
