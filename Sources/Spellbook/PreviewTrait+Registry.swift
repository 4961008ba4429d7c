#if canImport(SwiftUI)
  public import SpellRegistry
  public import SwiftUI

  extension PreviewTrait where T == Preview.ViewTraits {
    /// Gives a preview its own registry, with the keys' values for previews and with preferences in memory.
    ///
    /// ```swift
    /// #Preview(traits: .registry { $0.register((any AudioPlayer).self) { SilentPlayer() } }) {
    ///   SettingsView()
    /// }
    /// ```
    ///
    /// Each `@InjectedState` property of the preview's views asks this registry, and so does each `@Injected` and
    /// `@Preference` property of the objects that the registry creates. Such properties of a view itself ask the shared
    /// registry. `configure` runs once for each preview.
    @MainActor public static func registry(
      _ preferences: @autoclosure @escaping @Sendable () -> KeyValuePairs<String, any Codable> = [:],
      _ configure: (InitializerRegistry) -> Void = { _ in }
    ) -> PreviewTrait {
      let registry = InitializerRegistry.forPreviews(preferences)
      configure(registry)
      return .modifier(RegistryModifier(registry: registry))
    }
  }

  /// Puts a registry into the environment of a preview.
  private struct RegistryModifier: PreviewModifier {
    let registry: InitializerRegistry

    func body(content: Content, context: Void) -> some View { content.registry(registry) }
  }
#endif
