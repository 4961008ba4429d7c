#if canImport(SwiftUI)
  public import SpellRegistry
  public import SwiftUI

  extension PreviewTrait where T == Preview.ViewTraits {
    /// Returns a trait that gives a preview its own registry, with preview values for keys and preferences in memory.
    ///
    /// ```swift
    /// #Preview(traits: .registry { $0.register((any AudioPlayer).self) { SilentPlayer() } }) {
    ///   SettingsView()
    /// }
    /// ```
    ///
    /// `@InjectedState` properties of the preview's views ask this registry. `@Injected` and `@Preference` properties
    /// also ask it if the registry creates their enclosing object. In a view itself, `@Injected` and `@Preference`
    /// properties ask the shared registry. `configure` runs once for each preview.
    @MainActor public static func registry(
      _ preferences: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable> = [:],
      _ configure: (InitializerRegistry) -> Void = { _ in }
    ) -> PreviewTrait {
      let registry = InitializerRegistry.forPreviews(preferences)
      configure(registry)
      return .modifier(RegistryModifier(registry: registry))
    }
  }

  /// A modifier that puts a registry into the environment of a preview.
  private struct RegistryModifier: PreviewModifier {
    let registry: InitializerRegistry

    func body(content: Content, context: Void) -> some View { content.registry(registry) }
  }
#endif
