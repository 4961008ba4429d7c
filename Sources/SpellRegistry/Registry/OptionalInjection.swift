/// An Optional type that is asked for as its wrapped type.
protocol OptionalInjection: OptionalValue {
  static func value<Value>(
    of match: Match, from registry: InitializerRegistry, asker: ResolutionFrame.Asker,
    on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value
  static func made<Value, Arguments>(
    with arguments: Arguments, by registry: InitializerRegistry, at point: InjectionPoint
  ) throws(InjectionError) -> Value?
}

extension Optional: OptionalInjection {
  static func value<Value>(
    of match: Match, from registry: InitializerRegistry, asker: ResolutionFrame.Asker,
    on thread: CurrentThread, at point: () -> InjectionPoint
  ) throws(InjectionError) -> Value {
    let unwrapped = Match(match.registration, for: Service(Wrapped.self), of: match.owner)
    return rewrapped(try registry.value(of: unwrapped, asker: asker, on: thread, at: point) as Wrapped)
  }

  static func made<Value, Arguments>(
    with arguments: Arguments, by registry: InitializerRegistry, at point: InjectionPoint
  ) throws(InjectionError) -> Value? {
    guard let made: Wrapped = try registry.made(with: arguments, at: point) else { return nil }
    return rewrapped(made)
  }

  private static func rewrapped<Value>(_ wrapped: Wrapped) -> Value {
    guard let value = Optional(wrapped) as? Value else {
      trap("\(TypeName.of(Value.self)) doesn't wrap \(TypeName.of(Wrapped.self)); please report this.")
    }
    return value
  }
}
