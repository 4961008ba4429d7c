/// The unanswered calls, by number.
struct Calls: Sendable {
  private var calls: [Int: LaunchMachine.Call] = [:]
  /// The number of calls that wait for the launch, of which the last one's cancellation cancels the launch.
  private(set) var waitingForLaunch = 0

  subscript(id: Int) -> LaunchMachine.Call? { calls[id] }
  var all: [(key: Int, value: LaunchMachine.Call)] { calls.sorted { $0.key < $1.key } }

  mutating func add(_ call: LaunchMachine.Call, _ id: Int) {
    calls[id] = call
    if call.isLaunch || call.isRun { waitingForLaunch += 1 }
  }

  mutating func remove(_ id: Int) {
    guard let call = calls.removeValue(forKey: id) else { return }
    if call.isLaunch || call.isRun { waitingForLaunch -= 1 }
  }

  func ids(where isWanted: (LaunchMachine.Call) -> Bool) -> [Int] {
    calls.filter { isWanted($0.value) }.keys.sorted()
  }
}
