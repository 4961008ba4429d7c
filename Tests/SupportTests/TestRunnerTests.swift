import Support
import Testing

@Suite("A program that runs tests")
struct TestRunnerTests {
  @Test(
    "is known by its name",
    arguments: [
      ".build/debug/AppPackageTests.xctest", "/Xcode/usr/bin/xctest", "xctest", "/usr/libexec/swiftpm-testing-helper",
      "C:\\app\\AppPackageTests.xctest", "App-test-runner", "App-test-runner.exe",
    ])
  func runner(program: String) { #expect(isTestRunner(program)) }

  @Test("isn't any other program", arguments: ["", "/", "/usr/bin/app", "Foo.xctest/app", "xctests"])
  func other(program: String) { #expect(!isTestRunner(program)) }

  @Test("is this one") func this() { #expect(isTestProcess) }
}
