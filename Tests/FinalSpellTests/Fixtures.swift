/// An object to assign, which equals only itself.
///
/// `@unchecked Sendable`: the only property is a constant.
final class Service: @unchecked Sendable {
  let label: String
  init(_ label: String = "") { self.label = label }
}
