/// The two sides of a comparison, in all rounds.
struct Pair {
  let what: String
  let tags: [String: String]
  private var rounds: [String: (subject: Export.Sample?, baseline: Export.Sample?)] = [:]

  init(_ sample: Export.Sample) {
    what = sample.what
    tags = sample.tags
  }

  mutating func add(_ sample: Export.Sample) {
    let round = sample.tags["round"] ?? ""
    if sample.tags["side"] == "baseline" {
      rounds[round, default: (nil, nil)].baseline = sample
    } else {
      rounds[round, default: (nil, nil)].subject = sample
    }
  }

  private var subjects: [Export.Sample] { rounds.values.compactMap(\.subject) }
  private var baselines: [Export.Sample] { rounds.values.compactMap(\.baseline) }

  var baseline: String { tags["with"] ?? "" }
  var subjectTime: Double { median(subjects.map(\.time)) }
  var baselineTime: Double { median(baselines.map(\.time)) }

  /// The subject's time in each round, as a multiple of the baseline's.
  var ratios: [Double] {
    rounds.values.compactMap { round in
      guard let subject = round.subject, let baseline = round.baseline else { return nil }
      return subject.time / baseline.time
    }
  }

  /// The numbers of allocations of an operation and of the baseline; nil if they aren't counted.
  var allocations: (subject: Double, baseline: Double)? {
    let (mine, theirs) = (subjects.compactMap(\.allocations), baselines.compactMap(\.allocations))
    return mine.isEmpty || theirs.isEmpty ? nil : (median(mine), median(theirs))
  }

  /// The goal for the time, in words, and whether it is met; nil if there is none.
  var timeGoal: (text: String, isMet: Bool)? {
    guard let goal = tags["goal"] else { return nil }
    if goal.hasSuffix("ns") {
      return Double(goal.dropLast(2)).map { ("≤ \(duration($0))", subjectTime <= $0) }
    }
    return Double(goal.dropLast()).map { ("≤ \(decimals($0))", median(ratios) <= $0) }
  }

  /// The goal for the allocations beyond the baseline's, in words, and whether it is met.
  var allocationGoal: (text: String, isMet: Bool)? {
    guard let extra = tags["extra"].flatMap(Double.init), extra.isFinite, let allocations else { return nil }
    return ("≤ \(count(allocations.baseline + extra))", allocations.subject <= allocations.baseline + extra + 0.01)
  }
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  if sorted.isEmpty { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}
