// This module exports the property wrappers, the registry, the preference stores, and the standard keys.

@_exported public import FinalSpell
@_exported public import InjectedSpell
@_exported public import LazySpell
@_exported public import PartialSpell
@_exported public import PreferenceSpell
@_exported public import PreferenceStorage
@_exported public import SpellRegistry
@_exported public import StandardKeys

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension InitializerRegistry {
  /// Creates a preview registry with its own in-memory preferences, and calls `make` while this registry is current.
  ///
  /// ```swift
  /// let model = InitializerRegistry.preview(["volume": 8]) { PlayerModel() }
  /// ```
  ///
  /// Use this method for models. For views, use the preview trait `.registry` instead. Views create other views after
  /// `make` has returned, and the properties of these other views would ask the shared registry.
  ///
  /// - Parameters:
  ///   - preferences: The keys and the values of the registry's stored preferences.
  ///   - make: A closure that creates the preview's content. The new registry is current while the closure runs.
  /// - Returns: The result of `make`.
  public static func preview<Result>(
    _ preferences: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable> = [:],
    _ make: () throws -> Result
  ) rethrows -> Result {
    try InitializerRegistry.forPreviews(preferences).run(make)
  }

  /// Returns a new registry for previews, which has its own preferences in memory.
  static func forPreviews(
    _ preferences: @escaping @Sendable () -> KeyValuePairs<String, any Codable>
  ) -> InitializerRegistry {
    let registry = InitializerRegistry(context: .preview)
    registry.register((any PreferenceStore).self, scope: .singleton) { try MemoryPreferenceStore(preferences()) }
    return registry
  }
}

extension FinalError: LocalizedError {
  /// The error's `description`, which `localizedDescription` also returns.
  public var errorDescription: String? { description }
}
extension PartialError: LocalizedError {
  /// The error's `description`, which `localizedDescription` also returns.
  public var errorDescription: String? { description }
}
