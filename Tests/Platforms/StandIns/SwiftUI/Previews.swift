// The names are Apple's.
// swift-format-ignore-file

public struct Preview {
  public struct ViewTraits: Sendable {}
}

@MainActor @preconcurrency public protocol PreviewModifier {
  associatedtype Context = Void
  associatedtype Body: View
  typealias Content = PreviewModifierContent
  static func makeSharedContext() async throws -> Context
  @ViewBuilder func body(content: Content, context: Context) -> Body
}
extension PreviewModifier where Context == Void {
  public static func makeSharedContext() async throws {}
}

public struct PreviewModifierContent: View, PrimitiveView {
  let content: any View
  func show(in tree: Tree, at place: String, _ environment: EnvironmentValues) {
    tree.show(content, at: place, environment)
  }
}

@MainActor public struct PreviewTrait<T> {
  let apply: (any View) -> any View
  public static func modifier<M: PreviewModifier>(_ modifier: M) -> PreviewTrait<Preview.ViewTraits>
  where T == Preview.ViewTraits, M.Context == Void {
    PreviewTrait { modifier.body(content: PreviewModifierContent(content: $0), context: ()) }
  }
  /// Returns the views of a preview with this trait; SwiftUI's counterpart is the macro `#Preview(traits:)`.
  public func preview(_ body: () -> any View) -> any View { apply(body()) }
}
