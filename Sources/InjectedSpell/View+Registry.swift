#if canImport(SwiftUI)
  public import SpellRegistry
  public import SwiftUI

  extension View {
    /// Lets each `@InjectedState` property in this view and the views inside it ask a registry.
    ///
    /// ```swift
    /// DocumentView().registry(documentRegistry)
    /// ```
    ///
    /// A view that is already in place keeps the values that it has. `@Injected` properties of a model ask the registry
    /// that creates the model, so they follow too if the model is injected. `@Injected` and `@Preference` properties of
    /// a view itself ask the current registry, which is the shared one while SwiftUI updates views.
    public func registry(_ registry: InitializerRegistry) -> some View { environment(\.registry, registry) }
  }

  extension Scene {
    /// Lets each `@InjectedState` property of the scene's views ask a registry, as `registry(_:)` does.
    public func registry(_ registry: InitializerRegistry) -> some Scene { environment(\.registry, registry) }
  }

  extension EnvironmentValues {
    /// The registry of this part of the tree of views, or else the current registry.
    public var registry: InitializerRegistry {
      get { givenRegistry ?? .current }
      set { givenRegistry = newValue }
    }

    /// The registry that an enclosing view or scene was given; nil if none was.
    var givenRegistry: InitializerRegistry? {
      get { self[GivenRegistryKey.self] }
      set { self[GivenRegistryKey.self] = newValue }
    }
  }

  private struct GivenRegistryKey: EnvironmentKey {
    static var defaultValue: InitializerRegistry? { nil }
  }
#endif
