/// Something to be assigned; equal to itself only.
final class Service: @unchecked Sendable {
  let label: String
  init(_ label: String = "") { self.label = label }
}
