import Foundation
import LaunchInitializers
import PartialSpell
import PreferenceStorage
import Synchronization

#if canImport(UIKit)
  import UIKit
#else
  import AppKit
#endif

/// A step that runs again at each return to the foreground.
private struct Refresh: Initializable {
  let runs: AsyncStream<Void>.Continuation
  func perform(with configuration: any Configurable) async throws { runs.yield() }
  func shouldPerformWhenApplicationEntersForeground() async -> Bool { true }
}

@MainActor private func returnToForeground() {
  #if canImport(UIKit)
    let (application, away) = (UIApplication.shared, UIApplication.didEnterBackgroundNotification)
    let back = UIApplication.willEnterForegroundNotification
  #else
    let (application, away) = (NSApplication.shared, NSApplication.didResignActiveNotification)
    let back = NSApplication.willBecomeActiveNotification
  #endif
  NotificationCenter.default.post(name: away, object: application)
  NotificationCenter.default.post(name: back, object: application)
}

@MainActor private func attach(_ sequence: LaunchSequence) {
  #if canImport(UIKit)
    sequence.attach(to: UIApplication.shared)
  #else
    sequence.attach(to: NSApplication.shared)
  #endif
}

@MainActor func checkApplication() async {
  await check("a sequence that is attached to the application runs its steps again in the foreground") {
    let (runs, continuation) = AsyncStream<Void>.makeStream()
    let sequence = try LaunchSequence(configuration: LayeredConfiguration(stage: .test, layers: [])) {
      Refresh(runs: continuation)
    }
    attach(sequence)
    try await sequence.launch()
    returnToForeground()
    return try await soon {
      var runs = runs.makeAsyncIterator()
      _ = await runs.next()
      return await runs.next() != nil
    }
  }
  await check("a nib's first object of the type is loaded, on the main thread alone") {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("Header.nib"))
    guard let bundle = Bundle(path: folder.url.path) else { return false }
    let loader = NibPartialLoader(bundle: bundle)
    do {
      _ = try loader.load(String.self, named: "Header")
      return false
    } catch let error as PartialError {
      // After dispatchMain() no thread is the main one.
      return error.code == .wrongIsolation
    }
  }
  await check("the standard file is in Application Support, in the bundle's folder or the process's") {
    guard let home = ProcessInfo.processInfo.environment["STAND_IN_HOME"] else { return false }
    let name = Bundle.main.bundleIdentifier ?? "Driver"
    try FilePreferenceStore.standard.set(1, forKey: "a")
    return FileManager.default.fileExists(
      atPath: "\(home)/Library/Application Support/\(name)/settings.preferences")
  }
}
