public import Spellbook

/// A property whose value stays within a range: an assignment beyond it sets the nearest value in it.
///
/// ```swift
/// final class Player {
///   @Clamped(0...10) var volume = 5
/// }
/// player.volume = 12      // 10
/// ```
///
/// A container that is an `InjectionObserver` hears of each value that an assignment sets, by the property's name.
///
/// Reads and assignments need the isolation that the container has. A struct's copies are assigned apart.
@propertyWrapper public struct Clamped<Value: Comparable> {
  private let range: ClosedRange<Value>
  /// What the property has until it is assigned.
  private let initialValue: Value
  private var storage: PropertyStorage<Value>

  /// A property that begins with the value in the range that is nearest to the one given.
  ///
  /// - Parameters:
  ///   - initialValue: What the property has until it is assigned.
  ///   - range: What the value stays within.
  ///   - fileID: The file that this is written in, for messages.
  ///   - line: The line that this is written in, for messages.
  ///   - column: The column that this is written in, which tells properties of a line apart.
  public init(
    wrappedValue initialValue: Value, _ range: ClosedRange<Value>, fileID: StaticString = #fileID,
    line: UInt = #line, column: UInt = #column
  ) {
    self.range = range
    self.initialValue = range.nearest(to: initialValue)
    let place = SourcePlace(fileID: fileID, line: line, column: column)
    storage = PropertyStorage(PropertyDeclaration(place: place))
  }

  /// The value of a property of a class or an actor.
  public static subscript<Container: AnyObject>(
    _enclosingInstance container: Container, wrapped _: ReferenceWritableKeyPath<Container, Value>,
    storage path: ReferenceWritableKeyPath<Container, Self>
  ) -> Value {
    get { container[keyPath: path].value }
    set {
      container[keyPath: path].assign(newValue)
      container[keyPath: path].notifyObservers(in: container)
    }
  }

  /// The value of a property of a struct, or of a local.
  public var wrappedValue: Value {
    get { value }
    set {
      assign(newValue)
      notifyObservers(in: nil)
    }
  }

  private var value: Value { storage.value ?? initialValue }

  /// Puts other storage in place, which no copy of a struct shares.
  private mutating func assign(_ value: Value) { storage = storage.replaced(with: range.nearest(to: value)) }

  private func notifyObservers(in container: AnyObject?) {
    storage.declaration.registry.notifyObservers(of: value, at: storage.point(in: container))
  }
}

// Reflection finds the property's name by this.
extension Clamped: NamedProperty {
  /// Which property this wrapper stores.
  public var identity: PropertyIdentity { storage.identity }

  /// Nothing: the wrapper has its value.
  public static var need: PropertyNeed { .nothing }
}

extension ClosedRange {
  /// The value itself if the range has it, else the bound on its side.
  fileprivate func nearest(to value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
