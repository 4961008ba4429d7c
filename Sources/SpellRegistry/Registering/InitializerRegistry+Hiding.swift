extension InitializerRegistry {
  /// Adds a registration that hides the one for exactly the same requests: the same type or key, class, name and kind.
  ///
  /// What is hidden keeps its value and its place below. When the new registration is withdrawn, what it hid serves
  /// again, with its value. Registrations that hide each other may be withdrawn in any order. `register` replaces only
  /// the registration on top. If there is nothing to hide in this registry, the call is the same as `register`.
  ///
  /// ```swift
  /// let registration = registry.hide(with: .instance(pool), at: place)
  /// registration.unregister()  // What served before serves again.
  /// ```
  ///
  /// With `Initializer.wrapping(_:)`, the new registration's value is made from that of what it hides.
  ///
  /// - Parameters:
  ///   - initializer: Makes the values, in every form that `register` takes.
  ///   - key: The declared key that the registration is for; nil if the registration is for the type `Value`.
  ///   - name: The names of the properties that get the value; nil for all names.
  ///   - scope: How long a value is kept, and which requests share it; nil for the key's own scope or `.unique`.
  ///   - place: The place of the registration in the source code, for messages.
  package func hide<Value>(
    with initializer: Initializer<Value>, for key: InjectionKey<Value>? = nil, named name: PropertyName? = nil,
    scope: Scope<Value>? = nil, at place: SourcePlace
  ) -> Registration<Value> {
    let record = record(initializer.erased, for: key, named: name, scope: scope, at: place)
    hide(behind: record)
    return Registration(record: record, registry: self)
  }

  /// Puts the value of what a registration hides in memory, for the initializer of that registration.
  ///
  /// That is what would be chosen for the request if neither the registration nor those that hide it existed: what was
  /// registered before it in its registry, or else what the parent or the declared key has. The value has that
  /// registration's own scope and hooks.
  ///
  /// - Precondition: The calling thread is running the initializer of a registration, for `request`, and this registry
  ///   is current.
  fileprivate func putHiddenValue(_ memory: ValueMemory, _ request: borrowing Request) throws(InjectionError) {
    guard let hider = CurrentThread.current.fields.frames.last?.record?.object else {
      trap("An initializer that wraps a value ran without a registration. \(reportThis)")
    }
    while true {
      switch find(request, hiddenBy: hider) {
      case .match(let record, let registry):
        if try resolve(request, into: memory, from: Match(record: record, owner: registry.object)) { return }
      case .nothing(let optional?): return optional.putNil(in: memory)
      case .nothing:
        let advice = """
          Register what is wrapped at \(hider.place) before that call: \
          registry.register(\(TypeName.source(of: request.type))) { … }
          """
        throw missing(request.service, asked: request.step(), by: hider, named: hider.name?.text, advice: advice)
      // A search that isn't given memory copies nothing.
      case .delivered: return
      }
    }
  }
}

extension InitializerRegistry {
  /// Returns the registration whose value the initializer of `hider` wraps, for a request to this registry.
  ///
  /// - Parameter name: The name in the request; nil for the name to which `hider` is limited.
  func match(wrappedBy hider: RegistrationRecord, named name: String? = nil) -> Match? {
    let name = name ?? hider.name?.text
    let request = Request(hider.service, named: name, inClass: hider.container?.type as? any AnyObject.Type)
    guard case .match(let record, let owner) = find(request, hiddenBy: hider) else { return nil }
    return Match(record: record, owner: owner.object)
  }

  /// Finds the registration that would serve a request if neither `hider` nor the registrations that hide it existed.
  private func find(_ request: borrowing Request, hiddenBy hider: RegistrationRecord) -> Finding {
    owner(of: hider).find(request, Search(hiddenBy: hider))
  }

  /// Returns the registry that has, or had, a registration: this registry or one of its parents.
  func owner(of record: RegistrationRecord) -> InitializerRegistry {
    lineage.first { $0.number == record.registryNumber } ?? self
  }
}

extension Initializer {
  /// Returns an initializer that makes a value from the value of what its registration hides.
  ///
  /// If nothing is hidden, and no parent and no declared key serves the request either, the request throws
  /// `.notRegistered`. If what is hidden has an async initializer, the request has to be `resolveAsync`, unless the value
  /// is already kept.
  package static func wrapping(_ make: @escaping @Sendable (Value, Resolver) throws -> Value) -> Initializer {
    Initializer(
      ErasedInitializer(.wrapping) { memory, request, registry in
        let hidden: Value = try ValueMemory.value { memory throws(InjectionError) in
          try registry.putHiddenValue(memory, request)
        }
        memory.put(try make(hidden, Resolver(request, registry)))
      })
  }
}
