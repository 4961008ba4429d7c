/// A layout of boxes in a picture, which puts each box above the boxes that its lines lead to, except in cycles.
///
/// This is a layered drawing by Sugiyama's method (Sugiyama, Tagawa and Toda, 1981). The longest path to a box
/// determines the layer of the box. A line that leads down across other layers has a bend in each of them. Within a
/// layer, boxes and bends are sorted by the mean position of the boxes and bends from which lines lead to them.
struct LayeredLayout {
  struct Box {
    fileprivate(set) var x = 0
    fileprivate(set) var y = 0
    let width: Int
    let height = 32
  }
  private struct Line: Hashable {
    let from: Int
    let to: Int
  }

  /// The space after each box in a row.
  private static let gap = 24

  private var boxes: [Box] = []
  private var bends: [Line: [Int]] = [:]
  private(set) var width = 40
  private(set) var height = 40

  /// - Parameters:
  ///   - widths: The width of each box.
  ///   - lines: The lines between boxes. Each end of a line is the index of a box in `widths`. A line from a box to
  ///     itself doesn't affect the layout.
  init(widths: [Int], lines: [(from: Int, to: Int)]) {
    var needs = widths.map { _ in [Int]() }
    for line in lines where line.from != line.to { needs[line.from].append(line.to) }
    boxes = widths.map { Box(width: $0) }
    var depths = Self.rows(of: Self.depths(needs), needs, boxes)
    // A line down across several layers gets a bend in each layer that it crosses, so that it runs beside the boxes.
    var links = needs.map { _ in [Int]() }
    for from in needs.indices {
      for to in needs[from] where bends[Line(from: from, to: to)] == nil {
        let between = (depths[from] + 1..<max(depths[from] + 1, depths[to])).map { depth in
          depths.append(depth)
          links.append([])
          boxes.append(Box(width: 0))
          return boxes.count - 1
        }
        bends[Line(from: from, to: to)] = between
        for (stop, next) in zip([from] + between, between + [to]) { links[stop].append(next) }
      }
    }
    let layers = Self.ordered(Self.layers(depths), links)
    let widths = layers.map { layer in layer.dropLast().reduce(boxes[layer.last ?? 0].width) { $0 + step(after: $1) } }
    width = (widths.max() ?? 0) + 40
    for (depth, layer) in layers.enumerated() {
      var x = (width - widths[depth]) / 2
      for node in layer {
        boxes[node].x = x
        boxes[node].y = 20 + depth * 84
        x += step(after: node)
      }
    }
    height = max(1, layers.count) * 84 - 12
  }

  /// Returns the distance from the left edge of a box or bend to the left edge of the next box or bend in the row.
  private func step(after node: Int) -> Int { boxes[node].width == 0 ? 8 : boxes[node].width + Self.gap }

  /// Returns the box or bend with the given number; a bend is a box without width.
  func box(of node: Int) -> Box { boxes[node] }

  /// Returns the numbers of the bends of a line between two boxes; `box(of:)` returns the bend with a number.
  func bends(from: Int, to: Int) -> [Int] { bends[Line(from: from, to: to), default: []] }

  /// Returns the length of the longest path to each node, ignoring lines that close a cycle.
  ///
  /// Outside cycles, a node is visited after all nodes that need it. If all remaining nodes are in cycles, or needed by
  /// nodes in cycles, the remaining node with the lowest number is visited next. A line to a node that was already
  /// visited closes a cycle.
  private static func depths(_ needs: [[Int]]) -> [Int] {
    var open = needs.map { _ in 0 }
    for node in needs.joined() { open[node] += 1 }
    var depth = needs.map { _ in 0 }
    var taken = needs.map { _ in false }
    var ready = needs.indices.filter { open[$0] == 0 }[...]
    var cut = 0
    for _ in needs {
      while ready.isEmpty {
        if !taken[cut] { ready.append(cut) }
        cut += 1
      }
      let node = ready.removeFirst()
      taken[node] = true
      for needed in needs[node] where !taken[needed] {
        depth[needed] = max(depth[needed], depth[node] + 1)
        open[needed] -= 1
        if open[needed] == 0 { ready.append(needed) }
      }
    }
    return depth
  }

  /// The maximum width of a row without its bends, about the width of a page.
  ///
  /// A wider box has its own row.
  private static let widestRow = 1000

  /// Returns the row of each box.
  ///
  /// A wide layer takes several rows, and boxes without lines are in rows below all other boxes.
  private static func rows(of depths: [Int], _ needs: [[Int]], _ boxes: [Box]) -> [Int] {
    let needed = Set(needs.joined())
    let isAlone = needs.indices.map { needs[$0].isEmpty && !needed.contains($0) }
    let lowest = (depths.max() ?? 0) + 1
    let hasLines = isAlone.contains(false)
    var rows = depths
    var row = -1
    for layer in layers(depths.indices.map { hasLines && isAlone[$0] ? lowest : depths[$0] }) where !layer.isEmpty {
      var width = Int.max / 2
      for node in layer {
        width += boxes[node].width + gap
        if width > widestRow {
          row += 1
          width = boxes[node].width
        }
        rows[node] = row
      }
    }
    return rows
  }

  private static func layers(_ depths: [Int]) -> [[Int]] {
    var layers: [[Int]] = Array(repeating: [], count: (depths.max() ?? -1) + 1)
    for (node, depth) in depths.enumerated() { layers[depth].append(node) }
    return layers
  }

  /// Returns the layers with their boxes sorted so that few lines cross.
  ///
  /// The boxes and bends of a layer are sorted by the mean position of the boxes and bends from which lines lead to
  /// them. A box to which no line leads is sorted as if a line came from the middle. A line from a lower layer, as in a
  /// cycle, counts as coming from the left edge.
  private static func ordered(_ layers: [[Int]], _ needs: [[Int]]) -> [[Int]] {
    var neededBy = needs.map { _ in [Int]() }
    for (node, needed) in needs.enumerated() { for other in needed { neededBy[other].append(node) } }
    var place = needs.map { _ in 0.0 }
    return layers.map { layer in
      let sorted = layer.map { node -> (node: Int, middle: Double) in
        let places = neededBy[node].map { place[$0] }
        return (node, places.isEmpty ? 0.5 : places.reduce(0, +) / Double(places.count))
      }.sorted { ($0.middle, $0.node) < ($1.middle, $1.node) }.map(\.node)
      for (index, node) in sorted.enumerated() { place[node] = (Double(index) + 0.5) / Double(sorted.count) }
      return sorted
    }
  }
}
