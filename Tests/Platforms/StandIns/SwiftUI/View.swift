// The names are Apple's.
// swift-format-ignore-file

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError("A view of this kind has no body.") }
}

/// A view that the tree displays directly.
@MainActor protocol PrimitiveView: View where Body == Never {
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues)
}
extension PrimitiveView { public var body: Never { fatalError("A primitive view has no body.") } }

public struct EmptyView: View, PrimitiveView {
  public init() {}
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues) {}
}

public struct Text: View, PrimitiveView {
  let text: String
  public init<S: StringProtocol>(_ text: S) { self.text = String(text) }
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues) { tree.texts.append(text) }
}

@MainActor @resultBuilder public struct ViewBuilder {
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
    TupleView((repeat each content))
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
}

public struct TupleView<T>: View, PrimitiveView {
  public var value: T
  private let children: [@MainActor (Tree, String, EnvironmentValues) -> Void]
  public init<each Content: View>(_ value: (repeat each Content)) where T == (repeat each Content) {
    self.value = value
    var children: [@MainActor (Tree, String, EnvironmentValues) -> Void] = []
    for child in repeat each value {
      let number = children.count
      children.append { tree, place, environment in tree.show(child, at: "\(place).\(number)", environment) }
    }
    self.children = children
  }
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues) {
    for child in children { child(tree, place, environment) }
  }
}

extension Optional: View, PrimitiveView where Wrapped: View {
  public typealias Body = Never
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues) {
    if let self { tree.show(self, at: "\(place)?", environment) }
  }
}

struct EnvironmentWriter<Content: View>: View, PrimitiveView {
  let content: Content
  let change: (inout EnvironmentValues) -> Void
  init(content: Content, change: @escaping (inout EnvironmentValues) -> Void) { (self.content, self.change) = (content, change) }
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues) {
    var changed = environment
    change(&changed)
    tree.show(content, at: "\(place)e", changed)
  }
}

extension View {
  public func environment<V>(_ path: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
    EnvironmentWriter(content: self) { $0[keyPath: path] = value }
  }
}

@MainActor @preconcurrency public protocol Scene {
  associatedtype Body: Scene
  var body: Body { get }
}
extension Never: Scene {}

struct EnvironmentScene<Content: Scene>: Scene {
  let content: Content
  init(content: Content) { self.content = content }
  var body: Never { fatalError("A primitive scene has no body.") }
}
extension Scene {
  public func environment<V>(_ path: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some Scene {
    EnvironmentScene(content: self)
  }
}
