#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MemoryPreferenceStore {
  /// The store of properties that are read under a test runner with no store registered; nil in another program.
  ///
  /// Tests that run one after the other share it. Give each a store of its own with the trait `.preferences` or `.registry`.
  public static let sharedInTests: MemoryPreferenceStore? =
    isTestRunner(CommandLine.arguments.first ?? "", ProcessInfo.processInfo.environment) ? MemoryPreferenceStore() : nil

  static func isTestRunner(_ program: String, _ environment: [String: String]) -> Bool {
    let name = program.split(separator: "/").last ?? ""
    return name.hasSuffix(".xctest") || name == "xctest" || name == "swiftpm-testing-helper"
      || environment["XCTestConfigurationFilePath"] != nil || environment["XCTestBundlePath"] != nil
  }
}
