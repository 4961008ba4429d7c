// The graph in languages that other tools read.

internal import Support

extension DependencyGraph {
  /// The graph in Mermaid's language, which many Markdown viewers draw; observed dependencies are dotted.
  public func mermaid() -> String {
    let nodes = labelled { id, label in
      "  \(id)[\"\(label.replacing(["\"": "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"]))\"]"
    }
    return lines("graph TD", nodes, connected { "  \($0) \($2 ? "-.->" : "-->") \($1)" })
  }

  /// The graph in the DOT language of Graphviz; observed dependencies are dashed.
  public func dot() -> String {
    let nodes = labelled { id, label in "  \(id) [label=\"\(label.replacing(["\"": "\\\"", "\\": "\\\\"]))\"];" }
    return lines(
      "digraph dependencies {", nodes, connected { "  \($0) -> \($1)\($2 ? " [style=dashed]" : "");" }, ["}"])
  }

  /// The graph as a JSON object with `nodes` and `edges`, whose members are named as here.
  public func json() -> String {
    let nodes = nodes.map { node in
      """
          {"type": \(node.type.jsonQuoted), "scope": \(node.scope?.jsonQuoted ?? "null"), "names": [\(node.names.map(\.jsonQuoted).joined(separator: ", "))], \
      "place": \(node.place?.jsonQuoted ?? "null"), "isContainer": \(node.isContainer)}
      """
    }
    let edges = edges.map { edge in
      "    {\"from\": \(edge.from.jsonQuoted), \"to\": \(edge.to.jsonQuoted), \"isObserved\": \(edge.isObserved)}"
    }
    return """
      {
        "nodes": [
      \(nodes.joined(separator: ",\n"))
        ],
        "edges": [
      \(edges.joined(separator: ",\n"))
        ]
      }

      """
  }

  private func lines(_ head: String, _ parts: [String]...) -> String {
    ([head] + parts.flatMap(\.self)).joined(separator: "\n") + "\n"
  }

  private func labelled(_ line: (String, String) -> String) -> [String] {
    nodes.enumerated().map { line("n\($0)", $1.label) }
  }

  private func connected(_ line: (String, String, Bool) -> String) -> [String] {
    let ids = ids
    return edges.compactMap { edge in
      ids[edge.from].flatMap { from in ids[edge.to].map { line("n\(from)", "n\($0)", edge.isObserved) } }
    }
  }

  /// The nodes by number, since type names may hold any character.
  var ids: [String: Int] {
    Dictionary(nodes.enumerated().map { ($1.type, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension DependencyGraph.Node {
  /// The type's name, the file and line of its key, and its scope, if that isn't `unique`.
  var label: String {
    var name = type[...]
    var notes: [String] = []
    if let key = type.firstRange(of: Service.keyPreposition) {
      name = type[..<key.lowerBound]
      let place = type[key.upperBound...]
      notes.append("key at \(place.split(separator: "/").last ?? place)")
    }
    switch scope {
    case nil: if !isContainer { notes.append("missing") }
    case "unique"?: break
    case let scope?: notes.append(scope)
    }
    return notes.isEmpty ? String(name) : "\(name) (\(notes.joined(separator: ", ")))"
  }
}

extension String {
  func replacing(_ replacements: [Character: String]) -> String {
    reduce(into: "") { $0 += replacements[$1] ?? String($1) }
  }
}

extension String? {
  fileprivate var json: String { self?.jsonQuoted ?? "null" }
}
