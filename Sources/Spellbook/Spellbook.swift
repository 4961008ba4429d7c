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

// Foundation's value types start empty too. They conform here, since the core doesn't import Foundation.

extension Data: DefaultInitializable {}
extension Date: DefaultInitializable {}
extension Decimal: DefaultInitializable {}
extension AttributedString: DefaultInitializable {}
extension IndexPath: DefaultInitializable {}
extension UUID: DefaultInitializable {}

// An error's localized description is its description.

extension InjectionError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
extension FinalError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
extension PartialError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
