import Foundation
import PartialSpell
import PreferenceStorage
import Synchronization

#if canImport(UIKit)
  import UIKit
#else
  import AppKit
#endif

@MainActor func checkApplication() async {
  await check("a nib's first object of the type is loaded, on the main thread alone") {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("Header.nib"))
    guard let bundle = Bundle(path: folder.url.path) else { return false }
    let loader = NibPartialLoader(bundle: bundle)
    do {
      _ = try loader.load(String.self, named: "Header")
      return false
    } catch let error as PartialError {
      // After dispatchMain(), no thread is the main thread.
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
