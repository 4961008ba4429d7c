internal import PreferenceStorage

extension PreferenceStoreSuite {
  static let keyChecks = [
    Check("sorts keys by first writing") { trial in
      for key in ["c", "a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.set(2, forKey: "c")
      trial.expect(trial.store.keys, is: ["c", "a", "b"], "The keys:")
      try trial.store.removeValue(forKey: "c")
      try trial.store.set(3, forKey: "c")
      trial.expect(trial.store.keys, is: ["a", "b", "c"], "The keys after the first was removed and set again:")
    },
    Check("takes any key of 1 to 65,536 bytes") { trial in
      let keys = [
        "two words", "a\nb", "nul\u{0}", "\"\\", "👩‍👩‍👧", "\u{1}\u{7f}\u{2028}", "A", "a",
        String(repeating: "k", count: 65_536),
      ]
      for (number, key) in keys.enumerated() { try trial.store.set(number, forKey: key) }
      for (number, key) in keys.enumerated() {
        let value = try trial.store.value(Int.self, forKey: key)
        trial.expect(value, is: number, "The value of \(key.prefix(20).debugDescription):")
      }
      trial.expect(trial.store.keys == keys, else: "The keys were not those that were set.")
    },
    Check("refuses an empty key and one that is too long") { trial in
      for key in ["", String(repeating: "k", count: 65_537)] {
        let shown = "a key of \(key.utf8.count) bytes"
        trial.expect(.invalidKey, "When \(shown) was set") { try trial.store.set(1, forKey: key) }
        trial.expect(.invalidKey, "When \(shown) was read") { _ = try trial.store.value(Int.self, forKey: key) }
        trial.expect(.invalidKey, "When \(shown) was set in a transaction") {
          try trial.store.transaction { try $0.set(1, forKey: key) }
        }
      }
      trial.expect(trial.store.keys, is: [], "The keys:")
    },
    Check("removes the value of one key") { trial in
      for key in ["a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.removeValue(forKey: "a")
      try trial.store.removeValue(forKey: "absent")
      trial.expect(trial.store.keys, is: ["b"], "The keys after one was removed:")
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: nil, "The removed value:")
    },
    Check("removes all values") { trial in
      for key in ["a", "b", "c"] { try trial.store.set(1, forKey: key) }
      try trial.store.removeAll()
      trial.expect(trial.store.keys, is: [], "The keys after all were removed:")
      try trial.store.set(2, forKey: "b")
      trial.expect(try trial.store.value(Int.self, forKey: "b"), is: 2, "What was set after that:")
    },
    Check("has everything after it was reloaded and synchronized") { trial in
      for key in ["b", "a"] { try trial.store.set(key, forKey: key) }
      try trial.store.synchronize()
      try trial.store.reload()
      trial.expect(trial.store.keys, is: ["b", "a"], "The keys:")
      trial.expect(try trial.store.value(String.self, forKey: "a"), is: "a", "A value:")
    },
  ]

  static let reopeningChecks = [
    Check("has its values when it is opened again") { trial in
      try trial.store.set(Sample.full, forKey: "b")
      try trial.store.set(Int.min, forKey: "a\u{0}\n")
      try trial.store.set("set", forKey: "c")
      try trial.store.set("set again", forKey: "c")
      let store = try await trial.reopened()
      trial.expect(store.keys, is: ["b", "a\u{0}\n", "c"], "The keys:")
      trial.expect(try store.value(Sample.self, forKey: "b"), is: Sample.full, "The first value:")
      trial.expect(try store.value(Int.self, forKey: "a\u{0}\n"), is: Int.min, "The second value:")
      trial.expect(try store.value(String.self, forKey: "c"), is: "set again", "The third value:")
    },
    Check("has what its transactions changed when it is opened again, and nothing of one that failed") { trial in
      for key in ["a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.transaction { changes in
        changes.removeValue(forKey: "a")
        try changes.set(2, forKey: "b")
        try changes.set(2, forKey: "c")
      }
      trial.expectRollback {
        try $0.set(3, forKey: "b")
        try $0.set(3, forKey: "d")
      }
      let store = try await trial.reopened()
      trial.expect(store.keys, is: ["b", "c"], "The keys:")
      for key in ["b", "c"] { trial.expect(try store.value(Int.self, forKey: key), is: 2, "The value of \(key):") }
    },
    Check("has nothing when it is opened again after all was removed") { trial in
      for key in ["a", "b"] { try trial.store.set(1, forKey: key) }
      try trial.store.removeAll()
      trial.expect(try await trial.reopened().keys, is: [], "The keys:")
    },
  ]
}
