// This file imports the C library of each platform. A file that calls the library imports Support.

#if canImport(Darwin)
  @_exported public import Darwin
#elseif canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#elseif canImport(Android)
  @_exported public import Android
#elseif os(Windows)
  @_exported public import ucrt
#elseif canImport(WASILibc)
  @_exported public import WASILibc
#else
  #error("Spellbook doesn't know the C library of this platform. Add its module to this list.")
#endif

/// Writes text to standard error, without a buffer.
package func writeToStandardError(_ text: String) {
  let bytes = Array(text.utf8)
  #if os(Windows)
    _ = _write(2, bytes, UInt32(bytes.count))
  #else
    _ = write(STDERR_FILENO, bytes, bytes.count)
  #endif
}

// MARK: The origin of the process, by its environment and its arguments

/// Whether a test runner started this process: XCTest, Swift Testing, or a package's `swift test`.
///
/// Apple's runners set environment variables. Those of Swift packages load a bundle or a program whose name ends in
/// `.xctest`, or pass an option of the testing library. An exit test's child process is a test, too.
package let isTestProcess: Bool =
  ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCTestSessionIdentifier", "SWT_EXIT_TEST_ID"]
  .contains { environmentVariable($0) != nil }
  || CommandLine.arguments.contains { argument in
    argument.hasSuffix(".xctest") || argument == "--testing-library" || argument.hasSuffix("swiftpm-testing-helper")
  }

/// Whether Xcode started this process to show previews.
package let isPreviewProcess: Bool = environmentVariable("XCODE_RUNNING_FOR_PREVIEWS") == "1"

/// Returns the value of an environment variable, or nil if the variable isn't set.
private func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
