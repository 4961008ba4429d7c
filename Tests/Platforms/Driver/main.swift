// Runs Spellbook's code for Apple platforms on stand-ins for Apple's modules (`.ci/platforms`). Prints a line for each
// check that fails; exits with 1 if any does.

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
// From here on, the main queue and the main actor run on other threads.
dispatchMain()
