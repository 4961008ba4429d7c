// What a key's value is in tests and previews, and keys whose initializers run on the main actor or are async.

extension InjectionKey {
  /// Adds the initializer to use in a registry whose context is `.test`.
  ///
  /// ```swift
  /// static let backend = InjectionKey { Backend.live }.test { Backend.fake }
  /// ```
  ///
  /// - Parameter initializer: Creates the value, in the key's scope.
  /// - Returns: The key to declare, in place of this one.
  public func test(_ initializer: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(test: .independent(initializer))
  }

  /// Adds the initializer to use in a registry whose context is `.test`, which gets the help of other services.
  ///
  /// - Parameter initializer: Creates the value, in the key's scope.
  /// - Returns: The key to declare, in place of this one.
  public func test(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(test: .resolving(initializer))
  }

  /// Adds the initializer to use in a registry whose context is `.preview`.
  ///
  /// - Parameter initializer: Creates the value, in the key's scope.
  /// - Returns: The key to declare, in place of this one.
  public func preview(_ initializer: @escaping @Sendable () throws -> Value) -> InjectionKey {
    adding(preview: .independent(initializer))
  }

  /// Adds the initializer to use in a registry whose context is `.preview`, which gets the help of other services.
  ///
  /// - Parameter initializer: Creates the value, in the key's scope.
  /// - Returns: The key to declare, in place of this one.
  public func preview(_ initializer: @escaping @Sendable (Resolver) throws -> Value) -> InjectionKey {
    adding(preview: .resolving(initializer))
  }
}

extension InjectionKey where Value: Sendable {
  /// Creates a key whose value a closure makes on the main actor.
  ///
  /// ```swift
  /// static let loader = InjectionKey.onMainActor(scope: .singleton) { Loader() }
  /// ```
  ///
  /// A request from elsewhere throws an error of code `.wrongIsolation`, unless the value is kept and there already;
  /// `resolveAsync` goes to the main actor for it.
  ///
  /// - Parameters:
  ///   - scope: How long the value is kept, and who shares it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - initializer: Creates the value on the main actor.
  /// - Returns: The key.
  public static func onMainActor(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor () throws -> Value
  ) -> InjectionKey {
    InjectionKey(
      scope, at: SourcePlace(fileID: fileID, line: line),
      live: .onMainActor(initializer))
  }

  /// Creates a key whose value a closure makes on the main actor with the help of other services.
  ///
  /// - Parameters:
  ///   - scope: How long the value is kept, and who shares it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - initializer: Creates the value on the main actor.
  /// - Returns: The key.
  public static func onMainActor(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @MainActor (Resolver) throws -> Value
  ) -> InjectionKey {
    InjectionKey(
      scope, at: SourcePlace(fileID: fileID, line: line), live: .onMainActor(initializer))
  }

  /// Creates a key whose value an initializer makes on the main actor from services that are found by its parameters'
  /// types.
  ///
  /// - Parameters:
  ///   - scope: How long the value is kept, and who shares it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - initializer: Creates the value on the main actor.
  /// - Returns: The key.
  public static func onMainActor<each Dependency>(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    autowire initializer: @escaping @MainActor (repeat each Dependency) throws -> Value
  ) -> InjectionKey {
    InjectionKey(
      scope, at: SourcePlace(fileID: fileID, line: line), live: .autowiringOnMainActor(initializer))
  }

  /// Creates a key whose value an async closure makes.
  ///
  /// A read throws an error of code `.notReady` until `resolveAsync` of the key has returned, and gets the value after
  /// that, for as long as the scope keeps it.
  ///
  /// - Parameters:
  ///   - scope: How long the value is kept, and who shares it.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - initializer: Creates the value.
  /// - Returns: The key.
  public static func async(
    scope: Scope<Value> = .unique, fileID: StaticString = #fileID, line: UInt = #line,
    _ initializer: @escaping @Sendable (Resolver) async throws -> Value
  ) -> InjectionKey {
    InjectionKey(
      scope, at: SourcePlace(fileID: fileID, line: line), live: .async(initializer))
  }

  /// Adds the main-actor initializer to use in a registry whose context is `.test`.
  ///
  /// - Parameter initializer: Creates the value on the main actor, in the key's scope.
  /// - Returns: The key to declare, in place of this one.
  public func testOnMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> InjectionKey {
    adding(test: .onMainActor(initializer))
  }

  /// Adds the main-actor initializer to use in a registry whose context is `.preview`.
  ///
  /// - Parameter initializer: Creates the value on the main actor, in the key's scope.
  /// - Returns: The key to declare, in place of this one.
  public func previewOnMainActor(_ initializer: @escaping @MainActor () throws -> Value) -> InjectionKey {
    adding(preview: .onMainActor(initializer))
  }
}
