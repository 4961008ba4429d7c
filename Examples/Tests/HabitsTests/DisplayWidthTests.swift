import HabitsCore
import Testing

@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("Read", 4), ("Café", 4), ("Cafe\u{301}", 4), ("日本語", 6), ("한국", 4), ("ﾊﾝｶｸ", 4), ("Ｒ", 2), ("🚶", 2),
    ("👩‍👩‍👧", 2), ("👍🏽", 2), ("🇫🇷", 2), ("❤️", 2), ("1️⃣", 2), ("©", 1), ("\u{200D}", 0), ("привет", 6),
  ])
  func isThatOfATerminal(text: String, width: Int) { #expect(text.displayWidth == width) }
}
