import Support
import Testing

@Suite("Closest match")
struct ClosestMatchTests {
  @Test("a misspelled name finds the name it was meant to be, whatever its case")
  func misspelled() {
    let names = ["database", "Network", "cache"]
    #expect("databse".closestMatch(among: names) == "database")
    #expect("network".closestMatch(among: names) == "Network")
    #expect("mian".closestMatch(among: ["main"]) == "main")
  }

  @Test("a name that is far from all others, and a name itself, match nothing")
  func far() {
    #expect("player".closestMatch(among: ["database", "cache"]) == nil)
    #expect("cache".closestMatch(among: ["cache"]) == nil)
    #expect("x".closestMatch(among: []) == nil)
  }

  @Test("of two names that are equally close, the first in order is the match")
  func ties() {
    #expect("cat".closestMatch(among: ["hat", "bat"]) == "bat")
  }

  @Test("an edit distance counts insertions, removals, replacements, and swaps of neighbors")
  func distance() {
    #expect(editDistance(from: Array("kitten".utf8), to: Array("sitting".utf8)) == 3)
    #expect(editDistance(from: Array("".utf8), to: Array("abc".utf8)) == 3)
    #expect(editDistance(from: Array("same".utf8), to: Array("same".utf8)) == 0)
    #expect(editDistance(from: Array("mian".utf8), to: Array("main".utf8)) == 1)
    #expect(editDistance(from: Array("abcd".utf8), to: Array("badc".utf8)) == 2)
  }
}
