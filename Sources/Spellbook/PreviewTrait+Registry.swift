#if canImport(SwiftUI)
  public import SpellRegistry
  public import SwiftUI

  extension PreviewTrait where T == Preview.ViewTraits {
    /// Returns a trait that gives a preview its own registry, with in-memory preferences and the keys' preview values.
    ///
    /// ```swift
    /// #Preview(traits: .registry { $0.register((any AudioPlayer).self) { SilentPlayer() } }) {
    ///   SettingsView()
    /// }
    /// ```
    ///
    /// The `@InjectedState` properties of the preview's views take their values from this registry. So do the
    /// `@Injected` and `@Preference` properties of objects that the registry creates. The `@Injected` and `@Preference`
    /// properties of a view itself use the shared registry instead. `configure` runs once for each preview.
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
