internal import SpellRegistry
internal import Support

// MARK: Text

extension DependencyGraph {
  /// Returns the graph as Mermaid text, which many Markdown viewers draw, with observed dependencies dotted.
  public func mermaid() -> String {
    let nodes = labelled { id, label in
      "  \(id)[\"\(label.replacing(["\"": "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;"]))\"]"
    }
    return lines("graph TD", nodes, connected { "  \($0) \($2 ? "-.->" : "-->") \($1)" })
  }

  /// Returns the graph in the DOT language of Graphviz, with observed dependencies dashed.
  public func dot() -> String {
    let nodes = labelled { id, label in "  \(id) [label=\"\(label.replacing(["\"": "\\\"", "\\": "\\\\"]))\"];" }
    return lines(
      "digraph dependencies {", nodes, connected { "  \($0) -> \($1)\($2 ? " [style=dashed]" : "");" }, ["}"])
  }

  /// Returns the graph as a JSON object with `nodes` and `edges`, which have the properties of `Node` and `Edge`.
  public func json() -> String {
    let nodes = nodes.map { node in
      """
          {"type": \(node.type.jsonQuoted), "scope": \(node.scope.json), \
      "names": [\(node.names.map(\.jsonQuoted).joined(separator: ", "))], \
      "place": \(node.place.json), "isContainer": \(node.isContainer)}
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

  /// The number of each node, under the name of the node's type.
  ///
  /// Drawings use the numbers as IDs, because a type name may contain any character.
  var ids: [String: Int] {
    Dictionary(nodes.enumerated().map { ($1.type, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension DependencyGraph.Node {
  /// The text of a node: the type's name, followed by notes in parentheses.
  ///
  /// If the node is for an `InjectionKey`, a note gives the key's file and line. Another note gives the scope, unless
  /// it is `unique`. A type that has no registration, and isn't a container, has the note `missing`.
  var label: String {
    var notes = key.map { ["key at \($0.description.split(separator: "/").last ?? "")"] } ?? []
    switch scope {
    case nil: if !isContainer { notes.append("missing") }
    case "unique"?: break
    case let scope?: notes.append(scope)
    }
    return (title ?? type) + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
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

// MARK: Picture

extension DependencyGraph {
  /// Returns the graph as an SVG picture, with each type above the types that it needs, except in cycles.
  ///
  /// A dependency that is known only from an observed request is drawn with a dashed line, and a missing type in red.
  /// The method uses no other tools. Any browser can show the picture, in the reader's light or dark appearance.
  public func svg() -> String {
    let ids = ids
    let layout = LayeredLayout(
      widths: nodes.map { 24 + 8 * $0.label.count },
      lines: edges.compactMap { edge in ids[edge.from].flatMap { from in ids[edge.to].map { (from, $0) } } })
    let boxes = nodes.indices.map { layout.box(of: $0) }
    let lines = edges.compactMap { edge -> String? in
      guard let from = ids[edge.from], let to = ids[edge.to] else { return nil }
      let style = edge.isObserved ? " stroke-dasharray=\"5 4\"" : ""
      let stops = [from] + layout.bends(from: from, to: to) + [to]
      let way = zip(stops, stops.dropFirst()).map { path(from: layout.box(of: $0), to: layout.box(of: $1)) }
      return "<path d=\"M\(way.joined(separator: " L"))\"\(style)/>"
    }
    let shapes = zip(nodes, boxes).map { node, box in
      """
      <g><title>\((node.place ?? "not registered").xmlEscaped)</title>\
      <rect x="\(box.x)" y="\(box.y)" width="\(box.width)" height="\(box.height)" rx="8" \
      class="\(node.isContainer ? "container" : node.scope == nil ? "missing" : "type")"/>\
      <text x="\(box.x + box.width / 2)" y="\(box.y + 20)" text-anchor="middle">\(node.label.xmlEscaped)</text></g>
      """
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" class="dependency-graph" width="\(layout.width)" height="\(layout.height)" \
      viewBox="0 0 \(layout.width) \(layout.height)" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
      \(Self.style)
      <defs><marker id="dependency-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
      <path d="M0 0 L8 4 L0 8 z" class="tip"/></marker></defs>
      <rect width="100%" height="100%" rx="12" class="paper"/>
      <g class="line" marker-end="url(#dependency-arrow)">
      \(lines.joined(separator: "\n"))
      </g>
      \(shapes.joined(separator: "\n"))
      </svg>

      """
  }

  // Each selector has the picture's class, because a style in a picture applies to the whole page that shows it.
  private static let style = """
    <style>
    .dependency-graph .paper { fill: #ffffff } .dependency-graph .type { fill: #eef3fb; stroke: #4a6fa5 }
    .dependency-graph .missing { fill: #fde8e8; stroke: #c0392b }
    .dependency-graph .container { fill: #f6f7f9; stroke: #8a94a6 }
    .dependency-graph .line { fill: none; stroke: #666677 } .dependency-graph .tip { fill: #666677 }
    .dependency-graph text { fill: #1f2328 }
    @media (prefers-color-scheme: dark) {
    .dependency-graph .paper { fill: #161b22 } .dependency-graph .type { fill: #1f2d44; stroke: #7aa2dd }
    .dependency-graph .missing { fill: #4a1f1f; stroke: #f0857a }
    .dependency-graph .container { fill: #232a35; stroke: #6b7686 }
    .dependency-graph .line { stroke: #9aa4b2 } .dependency-graph .tip { fill: #9aa4b2 }
    .dependency-graph text { fill: #e6edf3 }
    }
    </style>
    """

  /// Returns a curve between two boxes as SVG path data, which has to follow an `M` or `L` command.
  private func path(from: LayeredLayout.Box, to: LayeredLayout.Box) -> String {
    let (x1, x2) = (from.x + from.width / 2, to.x + to.width / 2)
    let isUp = to.y <= from.y
    let (y1, y2) = isUp ? (from.y, to.y + to.height) : (from.y + from.height, to.y)
    // A dependency of a type on itself, or on another type in its row, is a curve above the row.
    if from.y == to.y {
      return "\(x1) \(from.y) C\(x1) \(from.y - 36) \(x2 + 8) \(to.y - 36) \(x2 + 8) \(to.y)"
    }
    let middle = (y1 + y2) / 2
    return "\(x1) \(y1) C\(x1) \(middle) \(x2) \(middle) \(x2) \(y2)"
  }
}
