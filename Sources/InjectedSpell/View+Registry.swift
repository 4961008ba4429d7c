#if canImport(SwiftUI)
  public import SpellRegistry
  public import SwiftUI

  extension View {
    /// Sets the registry that the `@InjectedState` properties of this view, and of the views inside it, ask for values.
    ///
    /// ```swift
    /// DocumentView().registry(documentRegistry)
    /// ```
    ///
    /// A view that is already in the view tree keeps its values. An `@Injected` property of a model asks the registry
    /// that creates the model. A model in an `@InjectedState` property of the view is created by `registry`, unless
    /// a parent registry keeps the model as a shared value. In that case, the parent creates the model. `@Injected` and
    /// `@Preference` properties of a view itself ask the current registry, which is the shared registry while SwiftUI
    /// updates views.
    public func registry(_ registry: InitializerRegistry) -> some View { environment(\.registry, registry) }
  }

  extension Scene {
    /// Sets the registry that the `@InjectedState` properties of the scene's views ask for values.
    public func registry(_ registry: InitializerRegistry) -> some Scene { environment(\.registry, registry) }
  }

  extension EnvironmentValues {
    /// The registry that an enclosing view or scene was given with `registry(_:)`, or else the current registry.
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
