import Foundation
import PreferenceStorage
import TestSupport
import Testing

@Suite("PreferenceTransaction") struct PreferenceTransactionTests {
  struct Changed: Error {}
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("reads its own writes, which no other reader sees before it ends", arguments: StoreKind.allCases)
  func isolation(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "a")
    let answer = try store.transaction { changes in
      try changes.set(2, forKey: "a")
      try changes.set("x", forKey: "b")
      #expect(try changes.value(Int.self, forKey: "a") == 2)
      #expect(try store.value(Int.self, forKey: "a") == 1)
      #expect(changes.keys == ["a", "b"])
      changes.removeValue(forKey: "a")
      #expect(changes.keys == ["b"])
      #expect(try changes.value(Int.self, forKey: "a") == nil)
      return "done"
    }
    #expect(answer == "done")
    #expect(store.keys == ["b"])
  }

  @Test("changes nothing when its body throws", arguments: StoreKind.allCases)
  func rollback(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(1, forKey: "a")
    #expect(throws: Changed.self) {
      try store.transaction { changes in
        try changes.set(2, forKey: "a")
        changes.removeAll()
        throw Changed()
      }
    }
    #expect(throws: PreferenceError.self) {
      try store.transaction { changes in
        try changes.set(2, forKey: "a")
        try changes.set(2, forKey: "")
      }
    }
    #expect(try store.value(Int.self, forKey: "a") == 1)
    try store.set(3, forKey: "a")
  }

  @Test("is one line of the file, without what it didn't change")
  func oneLine() throws {
    let store = try FilePreferenceStore(url: folder.file())
    try store.set(1, forKey: "a")
    try store.transaction { changes in
      try changes.set(1, forKey: "a")
      try changes.set(2, forKey: "b")
      try changes.set(3, forKey: "b")
      try changes.set(4, forKey: "c")
      changes.removeValue(forKey: "c")
      changes.removeValue(forKey: "d")
    }
    let lines = try folder.file().text.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[2].hasSuffix(" {\"b\":3}"))
  }

  @Test("moves a value of any type to another key", arguments: StoreKind.allCases)
  func moving(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    try store.set(Theme(name: "dark", sizes: [1]), forKey: "old")
    try store.set("replaced", forKey: "new")
    try store.transaction { changes in
      let moved = try [("old", "new"), ("old", "newer"), ("new", "new")].map { old, new in
        try changes.moveValue(forKey: old, to: new)
      }
      #expect(moved == [true, false, true])
    }
    #expect(store.keys == ["new"])
    #expect(try store.value(Theme.self, forKey: "new") == Theme(name: "dark", sizes: [1]))
  }

  @Test("removes everything, and can set values after that", arguments: StoreKind.allCases)
  func removingAll(kind: StoreKind) throws {
    let store = try kind.makeStore(in: folder)
    for key in ["a", "b"] { try store.set(1, forKey: key) }
    try store.transaction { changes in
      try changes.set(1, forKey: "c")
      changes.removeAll()
      #expect(changes.keys.isEmpty)
      try changes.set(2, forKey: "b")
    }
    #expect(store.keys == ["b"])
  }

  @Test("can give back a value that isn't Sendable")
  func nonSendableResult() throws {
    final class Box { var count = 0 }
    let box = try MemoryPreferenceStore().transaction { _ in Box() }
    box.count += 1
    #expect(box.count == 1)
  }
}
