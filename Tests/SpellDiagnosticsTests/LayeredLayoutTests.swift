import Testing

@testable import SpellDiagnostics

@Suite("A layered layout") struct LayeredLayoutTests {
  @Test("puts each box above those that its lines lead to, and none over another")
  func layers() {
    let lines = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]
    let layout = LayeredLayout(widths: [80, 120, 60, 90], lines: lines.map { (from: $0.0, to: $0.1) })
    let boxes = (0..<4).map { layout.box(of: $0) }
    for line in lines { #expect(boxes[line.0].y < boxes[line.1].y) }
    #expect(boxes[1].y == boxes[2].y)
    #expect(boxes[1].x + boxes[1].width <= boxes[2].x || boxes[2].x + boxes[2].width <= boxes[1].x)
    #expect(boxes.allSatisfy { $0.x >= 0 && $0.x + $0.width <= layout.width && $0.y + $0.height <= layout.height })
  }

  @Test("leads a line over several rows through a bend in each row between")
  func bends() {
    let layout = LayeredLayout(widths: [50, 50, 50], lines: [(from: 0, to: 1), (from: 1, to: 2), (from: 0, to: 2)])
    let bends = layout.bends(from: 0, to: 2)
    #expect(bends.map { layout.box(of: $0).y } == [layout.box(of: 1).y])
    #expect(layout.bends(from: 0, to: 1).isEmpty)
  }

  @Test("ends for a cycle, a line from a box to itself, and no box at all")
  func cycles() {
    let layout = LayeredLayout(widths: [50, 50], lines: [(from: 0, to: 1), (from: 1, to: 0), (from: 0, to: 0)])
    #expect(layout.box(of: 0).y != layout.box(of: 1).y)
    #expect(LayeredLayout(widths: [], lines: []).height > 0)
  }

  @Test("breaks a row that is wider than a page, and puts boxes without lines below all others")
  func rows() {
    let layout = LayeredLayout(widths: Array(repeating: 300, count: 8), lines: [(from: 0, to: 1)])
    let boxes = (0..<8).map { layout.box(of: $0) }
    #expect(boxes[2...].allSatisfy { $0.y > boxes[1].y })
    #expect(Set(boxes[2...].map(\.y)).count > 1)
    #expect(layout.width <= 1100)
  }
}
