import Foundation
@testable import LaunchInitializers

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// The contents that the report of a random plan must have, computed from the plan and the events alone.
struct ReportOracle {
  /// The times at which steps began and ended, by step.
  struct Times {
    private(set) var begins: [Int: Duration] = [:]
    private(set) var ends: [Int: Duration] = [:]

    mutating func note(_ event: LaunchEvent, of step: Int) {
      if event.message?.hasPrefix("after it was left behind") == true { return }
      switch event.kind {
      case .began(attempt: 1): if begins[step] == nil { begins[step] = event.time }
      case .ended: ends[step] = event.time
      default: break
      }
    }
  }

  let plan: RandomPlan
  let times: Times
  let outcomes: [Int: LaunchReport.Outcome]
  /// Whether the steps were shut down, so that each waited for the steps that had waited for it.
  var isReversed = false

  /// Returns the steps that a step waits for by itself, with its group, and as a deferred step.
  private func awaited(by index: Int) -> Set<Int> {
    func waits(_ step: Int, for other: Int) -> Bool {
      plan.steps[step].awaited.contains { $0.step == other }
        || plan.steps[step].isDeferred && !plan.steps[other].isDeferred
    }
    return Set(plan.steps.indices.filter { isReversed ? waits($0, for: index) : waits(index, for: $0) })
  }

  /// Returns the ended steps that a step waited for.
  ///
  /// A step that didn't take part is replaced by the steps that it waits for.
  private func causes(of index: Int) -> Set<Int> {
    awaited(by: index).reduce(into: []) { causes, other in
      if times.ends[other] != nil { causes.insert(other) } else { causes.formUnion(self.causes(of: other)) }
    }
  }

  func problems(of report: LaunchReport) -> [String] {
    var problems: [String] = []
    let indices = Dictionary(uniqueKeysWithValues: plan.steps.enumerated().map { ($1.id, $0) })
    func fault(_ text: String) { problems.append(text) }
    for entry in report.entries {
      guard let index = indices[entry.id] else { return ["it has \(entry.id)"] }
      let outcome = outcomes[index] ?? .notRun
      if entry.outcome != outcome { fault("\(entry.id) is \(entry.outcome), not \(outcome)") }
      guard outcome != .notRun, let end = times.ends[index] else { continue }
      if entry.end != end { fault("\(entry.id) ends at \(entry.end), not \(end)") }
      let begin = times.begins[index] ?? end
      if entry.start != begin { fault("\(entry.id) begins at \(entry.start), not \(begin)") }
      let causes = causes(of: index)
      let queued = causes.compactMap { times.ends[$0] }.max() ?? .zero
      if entry.queued != queued { fault("\(entry.id) is queued at \(entry.queued), not \(queued)") }
      let waitedFor = entry.waitedFor.compactMap { indices[$0] }
      if !causes.isSuperset(of: waitedFor) { fault("\(entry.id) waited for \(entry.waitedFor), not \(causes)") }
      if (waitedFor.compactMap { times.ends[$0] }.max() ?? .zero) != queued {
        fault("\(entry.id) waited for \(entry.waitedFor), which doesn't explain that it was queued at \(queued)")
      }
    }
    let ends = times.ends.filter { outcomes[$0.key] != .notRun }.values
    let duration = ends.max() ?? .zero
    if report.duration != duration { fault("it took \(report.duration), not \(duration)") }
    return problems + pathProblems(of: report, indices) + formatProblems(of: report)
  }

  /// Checks that each step of the critical path is queued when the previous one ends, and that the last step ends at
  /// the end.
  private func pathProblems(of report: LaunchReport, _ indices: [String: Int]) -> [String] {
    let path = report.criticalPath.compactMap { indices[$0] }
    let ended = report.entries.filter { $0.outcome != .notRun }
    guard let first = path.first, let last = path.last else {
      return ended.isEmpty ? [] : ["the critical path is empty"]
    }
    var problems: [String] = []
    if times.ends[last] != report.duration { problems.append("the critical path ends with \(last)") }
    if !causes(of: first).isEmpty { problems.append("the critical path begins with \(first)") }
    for (step, next) in zip(path, path.dropFirst()) {
      let latest = causes(of: next).compactMap { times.ends[$0] }.max()
      if !causes(of: next).contains(step) || times.ends[step] != latest {
        problems.append("the critical path goes from \(step) to \(next)")
      }
    }
    return problems
  }

  private func formatProblems(of report: LaunchReport) -> [String] {
    var problems: [String] = []
    let object = try? JSONSerialization.jsonObject(with: Data(report.json().utf8)) as? [String: Any]
    let entries = object?["entries"] as? [[String: Any]] ?? []
    if entries.map({ $0["id"] as? String }) != report.entries.map(\.id)
      || entries.map({ $0["waitedFor"] as? [String] }) != report.entries.map(\.waitedFor)
      || entries.map({ $0["end"] as? Double }) != report.entries.map({ $0.end / .seconds(1) })
      || object?["criticalPath"] as? [String] != report.criticalPath
      || object?["duration"] as? Double != report.duration / .seconds(1)
    {
      problems.append("its JSON differs")
    }
    // The XML parser takes longer than everything else.
    if plan.seed.isMultiple(of: 10) { problems += PictureTexts.problems(of: report) }
    return problems
  }
}

/// The texts and bars of a report's picture, as an XML parser reads them.
final class PictureTexts: NSObject, XMLParserDelegate {
  private var (width, bars) = (0.0, 0)
  private var texts: [(x: Double, isRightAligned: Bool, text: String)] = []

  /// Returns the texts that extend beyond the picture, and other mistakes in it.
  static func problems(of report: LaunchReport) -> [String] {
    let (parser, texts) = (XMLParser(data: Data(report.svg().utf8)), PictureTexts())
    parser.delegate = texts
    if !parser.parse() { return ["its picture isn't XML"] }
    var problems = texts.bars == report.entries.count + 1 ? [] : ["its picture has \(texts.bars) rectangles"]
    for (x, isRightAligned, text) in texts.texts {
      // The advance of a fixed-width font of 12 px, and the em of an East Asian character.
      let length = text.unicodeScalars.reduce(0.0) { $0 + ($1.value >= 0x2E80 ? 12 : 7.3) }
      let isInside = isRightAligned ? x - length >= 0 && x <= texts.width : x >= 0 && x + length <= texts.width
      if !isInside { problems.append("its picture cuts off \(text.debugDescription)") }
    }
    return problems
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    if name == "svg" { width = Double(attributes["width"] ?? "") ?? 0 }
    if name == "rect" { bars += 1 }
    if name == "text" { texts.append((Double(attributes["x"] ?? "") ?? 0, attributes["text-anchor"] == "end", "")) }
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if !texts.isEmpty, text != "\n" { texts[texts.count - 1].text += text }
  }
}
