// The names are Apple's, but for `Tree`.
// swift-format-ignore-file

/// A tree of views that follows the rules of SwiftUI on which wrappers rely. A view's value is made again at each
/// update. The storage of its properties lasts as long as the view is in place. A change of a value that a body has
/// read leads to an update.
@MainActor public final class Tree {
  private let root: () -> any View
  private var kept: [String: (content: AnyObject, subscription: AnyCancellable)] = [:]
  private var visited: Set<String> = []
  /// The texts that the views show.
  public internal(set) var texts: [String] = []
  /// Whether anything changed that a view depends on.
  public internal(set) var needsUpdate = false

  public init(_ root: @escaping () -> any View) {
    self.root = root
    update()
  }

  /// Makes all views again, and removes the storage of views that are gone.
  public func update() {
    (texts, visited, needsUpdate) = ([], [], false)
    show(root(), at: "root", EnvironmentValues())
    kept = kept.filter { visited.contains($0.key) }
  }

  func show(_ view: some View, at place: String, _ environment: EnvironmentValues) {
    let name = "\(place)/\(type(of: view))"
    connect(view, at: name, environment)
    if let view = view as? any PrimitiveView { return view.show(in: self, at: name, environment) }
    let change = Change(tree: self)
    let body = withObservationTracking { view.body } onChange: { change.note() }
    show(body, at: name, environment)
  }

  /// Connects the dynamic properties of a view, or of a dynamic property, to the storage for its place.
  private func connect(_ value: Any, at place: String, _ environment: EnvironmentValues) {
    for (number, child) in Mirror(reflecting: value).children.enumerated() where child.value is any DynamicProperty {
      let place = "\(place)#\(number)"
      if let property = child.value as? any ConnectedProperty {
        property.connect(to: self, at: place, environment)
      } else {
        connect(child.value, at: place, environment)
      }
    }
  }

  func kept<Content: AnyObject>(at place: String, _ make: () -> (Content, AnyCancellable)) -> Content {
    visited.insert(place)
    if let content = kept[place]?.content as? Content { return content }
    let made = make()
    kept[place] = (made.0, made.1)
    return made.0
  }

  /// `@unchecked Sendable`: views change only on the main thread.
  private struct Change: @unchecked Sendable {
    weak var tree: Tree?
    func note() { unsafeBitCast(mark, to: (@Sendable () -> Void).self)() }
    private var mark: @MainActor @Sendable () -> Void { { [tree] in tree?.needsUpdate = true } }
  }
}
