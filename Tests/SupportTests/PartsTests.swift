import Support
import Testing

@Suite("Parts of a text")
struct PartsTests {
  @Test("bytes contain their parts, the first of which is found")
  func bytes() {
    let bytes = "aaab aab".utf8
    #expect(bytes.start(ofPart: "aab".utf8) == bytes.index(bytes.startIndex, offsetBy: 1))
    #expect(bytes.contains(part: "b a".utf8))
    #expect(!bytes.contains(part: "baa".utf8))
    #expect(bytes.contains(part: "".utf8))
    #expect(!"".utf8.contains(part: "a".utf8))
  }

  @Test("a text contains whole characters only, in any normal form")
  func characters() {
    #expect("a timeout".contains(part: "time"))
    #expect("cafe\u{301}s".contains(part: "caf\u{E9}"))
    #expect(!"cafe\u{301}s".contains(part: "cafe"))
    #expect("text".contains(part: ""))
  }
}
