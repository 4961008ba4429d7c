// One import for every module but the test support.

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

/// A registry for previews; in a file that imports SwiftUI, write `Spellbook.Preview`.
public enum Preview {
  /// Runs `make` with what keys declare for previews, and with preferences of its own in memory.
  public static func run<Result>(
    _ preferences: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable> = [:],
    _ make: () throws -> Result
  ) rethrows -> Result {
    let registry = InitializerRegistry(context: .preview)
    registry.register((any PreferenceStore).self, scope: .singleton) { try MemoryPreferenceStore(preferences()) }
    return try registry.run(make)
  }
}

extension FinalError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
extension PartialError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
