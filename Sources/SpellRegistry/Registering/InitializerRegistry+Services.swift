// The services of a `ServiceBox` are registrations of the box's registry, which have an `Adoption`. The box has no list
// of its own.

extension InitializerRegistry {
  /// Registers a service of a box for its type and supertypes, in place of the box's service with the same name.
  ///
  /// - Parameters:
  ///   - box: The identity of the box.
  ///   - place: The place of the registration in the source code, for messages.
  package func register<Value: Sendable>(
    _ service: Value, named name: String, in box: ObjectIdentifier, at place: SourcePlace
  ) {
    let initializer = Initializer<Value>.instance(service, as: .anySupertype)
    let key: InjectionKey<Value>? = nil
    let record = record(initializer.erased, for: key, named: .equal(to: name), scope: nil, at: place)
    record.note(Adoption(of: service, in: box, by: self))
    insert(record) { table in
      table.instances(named: name).filter { $0 !== record && $0.adoption?.box == box }
    }
  }

  /// Returns the service with a name that a box has registered; nil if there is none.
  package func service(named name: String, in box: ObjectIdentifier) -> (any Sendable)? {
    let records = table.read { $0.instances(named: name) }
    return records.lazy.compactMap(\.adoption).first { $0.box == box }?.service
  }

  /// Withdraws the services that a box has registered.
  package func removeServices(in box: ObjectIdentifier) {
    withdraw { table in
      let services = table.everything.filter { $0.adoption?.box == box }
      return services.filter { table.remove($0) }
    }
  }
}
