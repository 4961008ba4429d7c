// What started this process, as far as its environment and its arguments tell.

/// Whether a test runner started this process: XCTest, Swift Testing, or a package's `swift test`.
///
/// Apple's runners set variables, and those of Swift packages load a bundle or a program with an `.xctest` name or pass
/// an option of the testing library. An exit test's child process is a test, too.
package let isTestProcess: Bool =
  ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier", "SWT_EXIT_TEST_ID"]
  .contains { environmentVariable($0) != nil }
  || CommandLine.arguments.contains { argument in
    argument.hasSuffix(".xctest") || argument == "--testing-library" || argument.hasSuffix("swiftpm-testing-helper")
  }

/// Whether Xcode started this process to show previews.
package let isPreviewProcess: Bool = environmentVariable("XCODE_RUNNING_FOR_PREVIEWS") == "1"

/// One variable of the process's environment; nil if it isn't set.
package func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
