import SpellDiagnostics
import SpellRegistry
import Testing

@Suite("validate() and graph() of a child registry") struct ChildRegistryTests {
  struct Endpoint: Sendable { var name = "" }
  struct Certificate: Sendable {}
  struct Service: Sendable { let endpoint: Endpoint }
  struct Client: Sendable { let service: Service }

  let parent = InitializerRegistry()

  /// Returns a child that overrides the endpoint of its parent's service.
  private func child() -> InitializerRegistry { parent.child { $0.register(.instance(Endpoint(name: "child"))) } }

  @Test("a kept value of the parent lacks what it lacks in the parent, even if the child has it")
  func missingInParent() throws {
    parent.register(Service.self, scope: .singleton, .autowire(Service.init))
    let line: UInt = #line + 1
    let errors = parent.child { $0.register(.instance(Endpoint(name: "child"))) }.validate()
    #expect(errors.map(\.code) == [.notRegistered])
    let error = try #require(errors.first)
    #expect(error.path == ["Service", "Endpoint"])
    let advice = """
      What a parent registry keeps gets its dependencies from there, so the registration of Endpoint at \
      SpellDiagnosticsTests/ChildRegistryTests.swift:\(line) doesn't serve it. Register Endpoint in the parent: \
      parent.register(ChildRegistryTests.Endpoint.self) { … }
      """
    #expect(error.description.contains(advice), "\(error)")
  }

  @Test("what only a kept value of the parent needs is checked too")
  func reached() {
    parent.register(Service.self, scope: .singleton, .autowire(Service.init))
    parent.register(Endpoint.self, .autowire({ (_: Certificate) in Endpoint() }))
    #expect(child().validate().map(\.path).contains(["Endpoint", "Certificate"]))
  }

  @Test("an override that a kept value of the parent doesn't hold is reported, with the line to write")
  func override() throws {
    parent.register(.instance(Endpoint(name: "parent")))
    parent.register(Service.self, scope: .singleton, .autowire(Service.init))
    parent.register(Client.self, .autowire(Client.init))
    let child = child()
    #expect(try child.resolve(Client.self).service.endpoint.name == "parent")
    let error = try #require(child.validate().first)
    #expect(child.validate().count == 1 && error.code == .scopeCapture && error.path == ["Service", "Endpoint"])
    #expect(error.description.contains("Service (singleton) is kept by a parent registry"), "\(error)")
    #expect(error.description.contains("child.register(ChildRegistryTests.Service.self, scope: …)"), "\(error)")
    child.register(Service.self, scope: .singleton, .autowire(Service.init))
    #expect(child.validate().isEmpty)
    #expect(try child.resolve(Client.self).service.endpoint.name == "child")
  }

  @Test("an override that reaches a unique value of the parent isn't a problem")
  func reachingOverride() throws {
    parent.register(.instance(Endpoint(name: "parent")))
    parent.register(Service.self, .autowire(Service.init))
    parent.register(Client.self, .autowire(Client.init))
    let child = child()
    #expect(child.validate().isEmpty)
    #expect(try child.resolve(Client.self).service.endpoint.name == "child")
  }

  @Test("a problem that is the same in the child and in the parent is reported once")
  func once() {
    parent.register(Service.self, scope: .singleton, .autowire(Service.init))
    parent.register(Endpoint.self, .autowire({ (_: Certificate) in Endpoint() }))
    #expect(InitializerRegistry(parent: parent).validate().map(\.path) == [["Endpoint", "Certificate"]])
  }

  @Test("the graph shows what a kept value of the parent holds, apart from what the child has")
  func graph() throws {
    parent.register(Certificate.self) { Certificate() }
    parent.register(Service.self, scope: .singleton, .autowire(Service.init))
    parent.register(Endpoint.self, .autowire({ (_: Certificate) in Endpoint(name: "parent") }))
    let graph = child().graph()
    #expect(
      graph.edges.map { "\($0.from) > \($0.to)" } == [
        "Service > Endpoint of another registry", "Endpoint of another registry > Certificate",
      ])
    #expect(graph.nodes.map(\.type) == ["Certificate", "Service", "Endpoint", "Endpoint of another registry"])
    #expect(graph.nodes.allSatisfy { $0.scope != nil })
  }

  @Test("a type that the child has, and a kept value of the parent lacks, is missing in the graph")
  func missingInGraph() throws {
    parent.register(Service.self, scope: .singleton, .autowire(Service.init))
    let graph = child().graph()
    #expect(graph.edges.map(\.to) == ["Endpoint of another registry"])
    #expect(graph.nodes.filter { $0.scope == nil }.map(\.type) == ["Endpoint of another registry"])
  }
}
