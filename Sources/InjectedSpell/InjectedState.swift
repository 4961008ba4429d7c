#if canImport(SwiftUI)
  internal import Combine
  public import SpellRegistry
  public import SwiftUI

  /// A view's property that gets its value from the registry, and keeps the value while the view is in the view tree.
  ///
  /// ```swift
  /// struct SettingsView: View {
  ///   @InjectedState var model: SettingsModel   // registered for the type
  ///   @InjectedState(.player) var player        // a declared key
  ///
  ///   var body: some View {
  ///     Toggle("Mute", isOn: $model.isMuted)
  ///     Button("Play") { player.play() }
  ///   }
  /// }
  /// ```
  ///
  /// SwiftUI creates a view's struct again at each update of the parent view. The injected value is created once for
  /// each position in the view tree, and released when the view is removed, like a value in `@State`.
  ///
  /// If the value is an `@Observable` object, SwiftUI updates the view when a property changes that `body` has read. If
  /// it is an `ObservableObject`, SwiftUI updates the view when the object is about to change. `$model.name` is a
  /// binding to a property of either kind of object.
  ///
  /// *Registry*: The property asks the registry that an enclosing view or scene was given with `registry(_:)`. If none
  /// was given, the property asks the registry that was current when the view's struct was created. A view in the view
  /// tree keeps its value when the registry of the environment changes.
  ///
  /// *Cost*: Each creation of the view's struct reads the current registry, which takes some 20 ns. The first read in a
  /// `body` asks the registry. Each later read takes about as long as a read of `@State`. Outside of the view tree, for
  /// example in a test that creates the view, nothing keeps the value, so each read asks the registry.
  ///
  /// *Threads*: The property belongs to the main actor, like the view. The registered initializer may require the main
  /// actor.
  ///
  /// *Traps*: A read stops the program if nothing is registered and the type isn't Optional, or if the initializer
  /// throws. The message has the file and line of the declaration, similar registrations and the line to add.
  @propertyWrapper public struct InjectedState<Value>: DynamicProperty {
    @Environment(\.givenRegistry) private var givenRegistry
    @StateObject private var cell = InjectedStateCell<Value>()
    private let registryOfCreation = InitializerRegistry.current
    private let key: InjectionKey<Value>?
    private let place: SourcePlace

    /// Creates a property that asks the registry for a value of the property's type.
    public init(fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
      self.key = nil
      self.place = SourcePlace(fileID: fileID, line: line, column: column)
    }

    /// Creates a property that resolves a declared key, as in `@InjectedState(.player) var player`.
    public init(
      _ key: InjectionKey<Value>, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) {
      self.key = key
      self.place = SourcePlace(fileID: fileID, line: line, column: column)
    }

    /// The injected value, which is created when it is first read.
    @MainActor public var wrappedValue: Value {
      do throws(InjectionError) {
        return try cell.value { () throws(InjectionError) in
          let registry = givenRegistry ?? registryOfCreation
          return if let key { try registry.resolve(key) } else { try registry.resolve(Value.self) }
        }
      } catch { error.stop(at: place, canResolve: false) }
    }

    /// Bindings to the properties of the injected value, as in `$model.name`.
    @MainActor public var projectedValue: Bindings { Bindings(value: wrappedValue) }

    /// Bindings to the properties of an observable value.
    @MainActor @dynamicMemberLookup public struct Bindings {
      fileprivate let value: Value

      /// A binding to a property of an `@Observable` object.
      public subscript<Subject>(
        dynamicMember path: ReferenceWritableKeyPath<Value, Subject>
      ) -> Binding<Subject> where Value: AnyObject & Observable {
        Bindable(value)[dynamicMember: path]
      }

      /// A binding to a property of an `ObservableObject`.
      @_disfavoredOverload
      public subscript<Subject>(
        dynamicMember path: ReferenceWritableKeyPath<Value, Subject>
      ) -> Binding<Subject> where Value: ObservableObject {
        ObservedObject(wrappedValue: value).projectedValue[dynamicMember: path]
      }
    }
  }

  extension InjectedState {
    /// Unavailable, because a property with its own expression has to be `@State`.
    @available(
      *, unavailable, message: "An @InjectedState property has no value of its own: write @State, or register it."
    )
    public init(
      wrappedValue: Value, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column
    ) { fatalError() }

    /// Unavailable, because a declared key is written with a dot, not as a key path; see ``InjectionKeys``.
    @available(*, unavailable, message: "A declared key isn't a key path: write a dot, as in @InjectedState(.model).")
    @_disfavoredOverload
    public init(
      _ path: KeyPath<InjectionKeys.Type, InjectionKey<Value>>, fileID: StaticString = #fileID, line: UInt = #line,
      column: UInt = #column
    ) { fatalError() }

    /// Unavailable, because the type is written after the property's name, not as an argument.
    @available(*, unavailable, message: "The type follows the name, as in @InjectedState var model: Model.")
    @_disfavoredOverload
    public init(_ type: any Any.Type, fileID: StaticString = #fileID, line: UInt = #line, column: UInt = #column) {
      fatalError()
    }
  }

  /// The storage that SwiftUI keeps for one property of a view in the view tree.
  ///
  /// After the property's first read, the storage has the injected value.
  private final class InjectedStateCell<Value>: ObservableObject {
    let objectWillChange = ObservableObjectPublisher()
    private var value: Value?
    private var changes: AnyCancellable?

    /// Returns the stored value or, at the first read, stores the result of `resolve` and returns it.
    @MainActor func value(
      resolvedBy resolve: () throws(InjectionError) -> Value
    ) throws(InjectionError) -> Value {
      if let value { return value }
      let resolved = try resolve()
      // The initializer may itself have read this view's property, in which case a value is stored already.
      if let value { return value }
      value = resolved
      if let object = resolved as? any ObservableObject { changes = forwardedChanges(of: object) }
      return resolved
    }

    /// Publishes each change of an object as a change of this cell, because SwiftUI observes the cell.
    private func forwardedChanges(of object: some ObservableObject) -> AnyCancellable {
      object.objectWillChange.sink { [weak self] _ in self?.objectWillChange.send() }
    }
  }
#endif
