// The names are Apple's.
// swift-format-ignore-file

@_exported public import Combine
@_exported public import Observation

public protocol DynamicProperty {
  mutating func update()
}
extension DynamicProperty {
  public mutating func update() {}
}

/// A property that the tree connects to the storage for a place.
protocol ConnectedProperty: DynamicProperty {
  @MainActor func connect(to tree: Tree, at place: String, _ environment: EnvironmentValues)
}

/// The connection of a property with its tree; empty outside of one. Each value of a view has its own.
final class Connection<Content> {
  var content: Content?
}

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]
  public init() {}
  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty, ConnectedProperty {
  private let path: KeyPath<EnvironmentValues, Value>
  private let connection = Connection<EnvironmentValues>()
  public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }
  public var wrappedValue: Value { (connection.content ?? EnvironmentValues())[keyPath: path] }
  func connect(to tree: Tree, at place: String, _ environment: EnvironmentValues) { connection.content = environment }
}

@propertyWrapper public struct StateObject<ObjectType: ObservableObject>: DynamicProperty, ConnectedProperty {
  private let make: () -> ObjectType
  private let connection = Connection<ObjectType>()
  nonisolated public init(wrappedValue make: @autoclosure @escaping () -> ObjectType) { self.make = make }
  /// Outside of a tree, each read makes an object, as in SwiftUI.
  @MainActor @preconcurrency public var wrappedValue: ObjectType { connection.content ?? make() }
  func connect(to tree: Tree, at place: String, _ environment: EnvironmentValues) {
    connection.content = tree.kept(at: place) {
      let object = make()
      return (object, object.objectWillChange.sink { [weak tree] _ in tree?.needsUpdate = true })
    }
  }
}

@propertyWrapper public struct State<Value>: DynamicProperty, ConnectedProperty {
  final class Cell {
    var value: Value
    weak var tree: Tree?
    init(_ value: Value) { self.value = value }
  }
  private let initial: Value
  private let connection = Connection<Cell>()
  public init(wrappedValue: Value) { initial = wrappedValue }
  @MainActor public var wrappedValue: Value {
    get { connection.content?.value ?? initial }
    nonmutating set {
      connection.content?.value = newValue
      connection.content?.tree?.needsUpdate = true
    }
  }
  func connect(to tree: Tree, at place: String, _ environment: EnvironmentValues) {
    connection.content = tree.kept(at: place) { (Cell(initial), AnyCancellable {}) }
    connection.content?.tree = tree
  }
}

@MainActor @preconcurrency @propertyWrapper public struct ObservedObject<ObjectType: ObservableObject> {
  public var wrappedValue: ObjectType
  public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
  public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

  @MainActor @preconcurrency @dynamicMemberLookup public struct Wrapper {
    let object: ObjectType
    public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<ObjectType, Subject>) -> Binding<Subject> {
      Binding(of: object, path)
    }
  }
}

@dynamicMemberLookup @propertyWrapper public struct Bindable<Value> {
  public var wrappedValue: Value
  public init(_ value: Value) where Value: Observable & AnyObject { wrappedValue = value }
  public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Value, Subject>) -> Binding<Subject>
  where Value: AnyObject {
    Binding(of: wrappedValue, path)
  }
}

extension Binding {
  /// Creates a binding to a property of a main-actor object.
  init<Object: AnyObject>(of object: Object, _ path: ReferenceWritableKeyPath<Object, Value>) {
    let sent = Sent(object: object, path: path)
    self.init(get: { sent.object[keyPath: sent.path] }, set: { sent.object[keyPath: sent.path] = $0 })
  }
}
/// `@unchecked Sendable`: the property belongs to the main actor, on which bindings are used.
private struct Sent<Object: AnyObject, Value>: @unchecked Sendable {
  let object: Object
  let path: ReferenceWritableKeyPath<Object, Value>
}
