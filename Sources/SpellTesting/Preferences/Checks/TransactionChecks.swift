internal import PreferenceStorage

extension PreferenceStoreSuite {
  static let transactionChecks = [
    Check("runs a transaction's body once, and gives back its result") { trial in
      var runs = 0
      let result = try trial.store.transaction { changes in
        runs += 1
        try changes.set(1, forKey: "a")
        return "done"
      }
      trial.expect(result, is: "done", "The result:")
      trial.expect(runs, is: 1, "How often the body ran:")
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: 1, "The value that it set:")
    },
    Check("shows a transaction its own writes, and nobody else before it ends") { trial in
      try trial.store.set(1, forKey: "a")
      try trial.store.transaction { changes in
        trial.expect(try changes.value(Int.self, forKey: "a"), is: 1, "What was there before, in the transaction:")
        try changes.set(2, forKey: "a")
        try changes.set("new", forKey: "b")
        trial.expect(try changes.value(Int.self, forKey: "a"), is: 2, "Its own write, in the transaction:")
        trial.expect(changes.keys, is: ["a", "b"], "The keys, in the transaction:")
        trial.expect(try trial.store.value(Int.self, forKey: "a"), is: 1, "The store's value meanwhile:")
        trial.expect(trial.store.keys, is: ["a"], "The store's keys meanwhile:")
        changes.removeValue(forKey: "a")
        trial.expect(try changes.value(Int.self, forKey: "a"), is: nil, "What it removed, in the transaction:")
      }
      trial.expect(trial.store.keys, is: ["b"], "The store's keys afterwards:")
    },
    Check("changes nothing where a transaction's body throws") { trial in
      try trial.store.set(1, forKey: "a")
      trial.expectRollback {
        try $0.set(2, forKey: "a")
        try $0.set(2, forKey: "b")
      }
      trial.expectRollback { $0.removeAll() }
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: 1, "The value:")
      trial.expect(trial.store.keys, is: ["a"], "The keys:")
      try trial.store.set(3, forKey: "a")
      trial.expect(try trial.store.value(Int.self, forKey: "a"), is: 3, "What was set after that:")
    },
    Check("removes and moves in a transaction") { trial in
      for key in ["a", "b"] { try trial.store.set(key, forKey: key) }
      try trial.store.transaction { changes in
        changes.removeAll()
        try changes.set("c", forKey: "c")
        try changes.moveValue(forKey: "c", to: "d")
      }
      trial.expect(trial.store.keys, is: ["d"], "The keys:")
      trial.expect(try trial.store.value(String.self, forKey: "d"), is: "c", "The value that was moved:")
    },
    Check("refuses a write from within a transaction") { trial in
      try trial.store.transaction { changes in
        try changes.set(1, forKey: "a")
        trial.expect(.nestedTransaction, "When it was written to from within a transaction") {
          try trial.store.set(1, forKey: "nested")
        }
        trial.expect(.nestedTransaction, "When a transaction began within another") {
          try trial.store.transaction { try $0.set(1, forKey: "nested") }
        }
      }
      trial.expect(trial.store.keys, is: ["a"], "The keys:")
    },
    Check("loses no increment that tasks make side by side") { trial in
      let (tasks, turns) = (4, 50)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for turn in 1...turns {
              try trial.store.transaction { changes in
                try changes.set((changes.value(Int.self, forKey: "count") ?? 0) + 1, forKey: "count")
              }
              try trial.store.set(turn, forKey: "turn of \(task)")
            }
          }
        }
        try await group.waitForAll()
      }
      trial.expect(try trial.store.value(Int.self, forKey: "count"), is: tasks * turns, "The count:")
      for task in 0..<tasks {
        trial.expect(try trial.store.value(Int.self, forKey: "turn of \(task)"), is: turns, "What one task set last:")
      }
    },
  ]
}

extension StoreTrial {
  private struct Refusal: Error {}

  /// Runs a transaction whose body throws at its end, and expects the error to come out.
  func expectRollback(_ body: (inout PreferenceTransaction) throws -> Void) {
    do {
      try store.transaction { changes in
        try body(&changes)
        throw Refusal()
      }
      expect(false, else: "What a transaction's body threw did not come out.")
    } catch {
      expect(error is Refusal, else: "Another error than the body's came out of a transaction: \(error)")
    }
  }
}
