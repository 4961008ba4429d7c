/// Something to be made; equal to itself only.
class Service: @unchecked Sendable {
  let label: String
  init(_ label: String = "") { self.label = label }
}
