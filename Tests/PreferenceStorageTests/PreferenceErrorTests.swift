import PreferenceStorage
import Testing

@Suite("PreferenceError") struct PreferenceErrorTests {
  @Test("says what, where, and what caused it")
  func description() {
    let error = PreferenceError(
      .noSpace, "no space is left", key: "volume", path: "/tmp/a", underlying: SystemError("write", 28))
    #expect(
      error.description.hasPrefix(
        "key \"volume\" in /tmp/a: no space is left [write: No space left on device"))
    #expect(PreferenceError(.unreadable, "gone").description == "gone")
  }

  @Test("codes can be compared and have names")
  func codes() {
    #expect(PreferenceError.Code.noSpace != .unwritable)
    #expect("\(PreferenceError.Code.laterVersion)" == "laterVersion")
  }
}
