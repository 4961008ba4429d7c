import Foundation

/// Prints each figure of an export beside its baseline from the same run.
@main enum Ratios {
  static func main() throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      print("usage: Ratios EXPORT (of `swift package benchmark --format jmh`)")
      exit(2)
    }
    let exports = try JSONDecoder().decode([Export].self, from: Data(contentsOf: URL(filePath: path)))
    var pairs: [String: Pair] = [:]
    for sample in exports.compactMap(\.sample) { pairs[sample.what, default: Pair(sample)].add(sample) }
    let sorted = pairs.values.sorted { $0.what < $1.what }
    print(table([heading] + sorted.map(row)))
    let verdicts = sorted.flatMap { [$0.timeGoal?.isMet, $0.allocationGoal?.isMet] }.compactMap(\.self)
    print(
      """

      Times and allocations are an operation's; medians, and of the ratios the least and the most of the rounds.
      Allocations are its own and its baseline's. \(verdicts.count(where: \.self)) of \(verdicts.count) goals are met.
      """)
  }

  private static let heading = ["", "time", "baseline", "", "ratio", "goal", "", "allocations", "goal", ""]

  private static func row(_ pair: Pair) -> [String] {
    let ratios = pair.ratios
    return [
      pair.what, duration(pair.subjectTime), duration(pair.baselineTime), pair.baseline,
      "\(decimals(median(ratios))) (\(decimals(ratios.min() ?? .nan)) to \(decimals(ratios.max() ?? .nan)))",
      pair.timeGoal?.text ?? "", verdict(pair.timeGoal?.isMet),
      pair.allocations.map { "\(count($0.subject)), \(count($0.baseline))" } ?? "",
      pair.allocationGoal?.text ?? "", verdict(pair.allocationGoal?.isMet),
    ]
  }

  private static func verdict(_ isMet: Bool?) -> String { isMet.map { $0 ? "met" : "MISSED" } ?? "" }
}
