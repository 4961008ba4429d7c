internal import SpellRegistry

extension Partial {
  /// The value of a plain constant; the same as ``wrappedValue``.
  @inlinable public var value: Value { wrappedValue }

  /// The first read; never inlined, so that it costs the later ones nothing.
  @inline(never) @usableFromInline func makeValue(in container: AnyObject?) -> Value {
    do throws(PartialError) { return try load(in: container) } catch {
      trap(
        "\(error.description)\n  A property cannot throw; `try $property.load()` can, and throws this error.",
        at: storage.declaration.place)
    }
  }

  func load(in container: AnyObject?) throws(PartialError) -> Value {
    do throws(InjectionError) {
      return try storage.makeValue(in: container) { point throws(InjectionError) in
        do throws(PartialError) { return try load(at: point) } catch {
          throw InjectionError(.initializerFailed, through: [point.step(Value.self)], underlying: error)
        }
      }
    } catch {
      // The error of the property's own loader has one step, in which no registration ran.
      if error.steps.count == 1, error.steps[0].registration == nil, let error = error.underlying as? PartialError {
        throw error
      }
      throw PartialError(.notMade, of: Value.self, resource: resource, underlying: error)
        .located(at: storage.point(in: container))
    }
  }

  /// The resource's name: the one given, else the type's.
  private var resource: String {
    if let givenName { return givenName }
    let type = (Value.self as? any OptionalValue.Type)?.wrappedType ?? Value.self
    let name = TypeName.of(type)
    return name.hasPrefix("any ") ? String(name.dropFirst(4)) : name
  }

  /// What the registered loader makes of the resource; nil for an Optional whose resource does not exist.
  private func load(at point: InjectionPoint) throws(PartialError) -> Value? {
    let loader: any PartialLoader
    do throws(InjectionError) {
      loader = try storage.declaration.registry.resolve(
        (any PartialLoader).self, named: point.propertyName, for: point.container)
    } catch {
      let isMissing = error.code == .notRegistered && error.path.count == 1
      throw PartialError(
        isMissing ? .noLoader : .loaderFailed, of: Value.self, resource: resource,
        underlying: isMissing ? nil : error
      ).located(at: point)
    }
    do {
      if let optional = Value.self as? any OptionalPartial.Type {
        return try optional.load(named: resource, with: loader) as? Value
      }
      return try loader.load(Value.self, named: resource)
    } catch let error as PartialError where error.declaration == nil {
      if error.code == .notFound && Value.self is any OptionalValue.Type { return nil }
      throw error.located(at: point)
    } catch {
      throw PartialError(.loaderFailed, of: Value.self, resource: resource, underlying: error)
        .located(at: point)
    }
  }
}

/// Lets an Optional be loaded as what it wraps.
private protocol OptionalPartial {
  static func load(named resource: String, with loader: any PartialLoader) throws -> Self
}

extension Optional: OptionalPartial {
  fileprivate static func load(named resource: String, with loader: any PartialLoader) throws -> Self {
    try loader.load(Wrapped.self, named: resource)
  }
}
