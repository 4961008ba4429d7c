/// The destination of a value: the property that requests the value, and the object that holds the property.
///
/// Every initializer that takes a ``Resolver``, and every hook of a registration or registry, gets an injection point.
/// The injection point is valid, and keeps its container alive, while the initializer or hook runs. Async initializers,
/// factories, completion hooks, and initializers and hooks that run on the main actor get an injection point without a
/// container.
public struct InjectionPoint {
  /// The service that is requested: a type, or a declared key for a value of the type.
  package let service: Service
  /// The object that holds the property or was passed to `resolve`; nil if there is none.
  ///
  /// There is none for a property of a struct, a local property, or a constant such as `let clock = Injected<Clock>()`.
  public private(set) var container: AnyObject?
  /// The storage of the requesting property; nil if no property makes the request.
  private let cell: PropertyCell?
  /// The name that `resolve` or the property's declaration specifies; nil if neither specifies one.
  private let requestedName: String?
  /// The details that few injection points have, stored in an object so that the other injection points stay small.
  private var details: Details?

  private final class Details {
    let identity: PropertyIdentity?
    /// The property's own name, or a wrapped nil if reflection finds no name; nil if reflection hasn't searched yet.
    let name: String??
    /// The class of the container, for an injection point without a container object.
    let containerType: (any AnyObject.Type)?

    init(identity: PropertyIdentity?, name: String??, containerType: (any AnyObject.Type)?) {
      (self.identity, self.name, self.containerType) = (identity, name, containerType)
    }
  }

  init(
    _ service: Service, of cell: PropertyCell? = nil, named requestedName: String? = nil,
    in container: AnyObject? = nil
  ) {
    (self.service, self.container, self.cell, self.requestedName) = (service, container, cell, requestedName)
  }

  /// Creates the injection point of a property that an enclosing instance holds.
  ///
  /// - Parameters:
  ///   - propertyType: The property's declared type.
  ///   - container: The object that holds the property; nil if no object does.
  ///   - identity: The identity of the property's storage, with which reflection finds the property's name.
  ///   - name: The name to use in the request instead of the property's own name, as in `@Injected("backup")`.
  public init(
    _ propertyType: any Any.Type, in container: AnyObject?, property identity: PropertyIdentity,
    named name: String? = nil
  ) {
    self.init(Service(propertyType), named: name, in: container)
    details = Details(identity: identity, name: nil, containerType: nil)
  }

  var identity: PropertyIdentity? { cell?.identity ?? details?.identity }

  /// The declared type of the property, or the type that `resolve` was called with.
  ///
  /// If that type is an Optional, and a registration of the wrapped type provides the value, the registration's
  /// initializer gets the wrapped type instead. The hooks that `resolveAsync` calls after an async initializer also get
  /// the wrapped type.
  public var propertyType: any Any.Type { service.type }

  /// The dynamic class of the container, even in main-actor code and completion hooks, which don't get the container.
  public var containerType: (any AnyObject.Type)? { container.map { type(of: $0) } ?? details?.containerType }

  /// The name in the request, which is the property's own name unless its declaration or `resolve` specifies another.
  ///
  /// Reflection finds the property's own name once for each class and property, in about a microsecond. After that,
  /// the name is read from a table. The property's own name is nil if no object holds the property; see ``container``.
  /// It is also nil in a class with a custom mirror, and in a program built without reflection metadata.
  public var propertyName: String? { requestedName ?? ownName }

  /// The property's own name, even if the request uses another name.
  ///
  /// If the request doesn't come from a property of an object, this is the name in the request.
  package var declaredName: String? { identity == nil || containerType == nil ? requestedName : ownName }

  private var ownName: String? {
    if let name = details?.name { return name }
    guard let identity, let container else { return nil }
    return WrappedProperties.name(of: identity, propertyType, storedIn: cell, in: container)
  }

  /// Returns a copy that contains the property's name, for use after the property's storage may have been replaced.
  func withKnownName() -> InjectionPoint {
    var point = self
    point.details = Details(identity: details?.identity, name: .some(ownName), containerType: containerType)
    return point
  }

  /// Returns a copy without the container, for code that might run outside of the container's isolation.
  func withoutContainer() -> InjectionPoint {
    var point = withKnownName()
    point.container = nil
    return point
  }

  /// Returns the injection point as a step of an error's path.
  @inline(never) package func step(_ record: RegistrationRecord? = nil) -> InjectionStep {
    var step = InjectionStep(service, servedBy: record, named: requestedName)
    if let identity { step.note(property: declaredName, in: containerType, declaredAt: identity.place) }
    return step
  }
}
