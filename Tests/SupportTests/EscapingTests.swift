import Support
import Testing

@Suite("Escaping")
struct EscapingTests {
  @Test("a JSON string escapes quotes, backslashes, and control characters, and nothing else")
  func json() {
    #expect("a \"b\" \\ \n \u{1F} é 🎈".jsonQuoted == #""a \"b\" \\ \u000a \u001f é 🎈""#)
    #expect("".jsonQuoted == "\"\"")
  }

  @Test("a string as XML text has entities for markup and spaces for the characters that XML can't have")
  func xml() {
    #expect("<a href=\"&\">\u{0}\u{FFFE}é".xmlEscaped == "&lt;a href=&quot;&amp;&quot;&gt;  é")
  }
}
