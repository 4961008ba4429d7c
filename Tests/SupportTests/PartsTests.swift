import Support
import Testing

@Suite("Parts of a text")
struct PartsTests {
  @Test("bytes contain their parts, the first of which is found")
  func bytes() {
    let bytes = Array("aaab aab".utf8)[...]
    #expect(bytes.start(ofPart: Array("aab".utf8)) == 1)
    #expect(bytes.contains(part: Array("b a".utf8)))
    #expect(!bytes.contains(part: Array("baa".utf8)))
    #expect(bytes.contains(part: []))
    #expect(!bytes.prefix(0).contains(part: Array("a".utf8)))
  }

  @Test("a text contains whole characters only, in any normal form")
  func characters() {
    #expect("a timeout".contains(part: "time"))
    #expect("cafe\u{301}s".contains(part: "caf\u{E9}"))
    #expect(!"cafe\u{301}s".contains(part: "cafe"))
    #expect("text".contains(part: ""))
  }
}
