// Runs what is Apple's in Spellbook, on modules that stand in for Apple's (`.ci/platforms`). Prints a line for each check that
// fails, and ends with 1 if one does.

import Darwin
import Dispatch

if CommandLine.arguments.count > 1 {
  Task { await runAsChild(CommandLine.arguments[1]) }
} else {
  MainActor.assumeIsolated { checkOnMainThread() }
  Task { @MainActor in
    await checkSystemCalls()
    await checkStores()
    await checkWatch()
    await checkPublisher()
    await checkApplication()
    await checkViews()
    print("\(Checks.count) checks, \(Checks.failed) failed")
    exit(Checks.failed == 0 ? 0 : 1)
  }
}
// From here on, the main queue and the main actor are other threads'.
dispatchMain()
