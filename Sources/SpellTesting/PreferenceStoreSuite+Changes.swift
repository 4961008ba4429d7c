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
    Check("shows a transaction its own writes, which no other reader sees before it ends") { trial in
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
      trial.expect(trial.store.keys, is: ["b"], "The store's keys afterward:")
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

  /// Runs a transaction whose body throws at its end, and reports an issue unless the transaction throws that error.
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

// MARK: Changes

extension PreferenceStoreSuite {
  static let changeChecks = [
    Check("tells each key that changed") { trial in
      try trial.store.set(1, forKey: "before")
      let changes = trial.store.changes()
      try trial.store.set(1, forKey: "a")
      trial.expect(await trial.hears(["a"], from: changes), is: ["a"], "After a was set:")
      try trial.store.removeValue(forKey: "before")
      trial.expect(await trial.hears(["before"], from: changes), is: ["before"], "After another was removed:")
      try trial.store.transaction { changes in
        try changes.set(2, forKey: "b")
        try changes.set(2, forKey: "c")
      }
      trial.expect(await trial.hears(["b", "c"], from: changes), is: ["b", "c"], "After a transaction:")
      try trial.store.removeAll()
      trial.expect(await trial.hears(["a", "b", "c"], from: changes), is: ["a", "b", "c"], "After all were removed:")
    },
    Check("says nothing of a value that is set to what it is") { trial in
      try trial.store.set([0.1], forKey: "a")
      let changes = trial.store.changes()
      try trial.store.set([0.1], forKey: "a")
      try trial.store.removeValue(forKey: "absent")
      try trial.store.transaction { try $0.set([0.1], forKey: "a") }
      try trial.store.set(1, forKey: "b")
      trial.expect(await trial.hears(["b"], from: changes), is: ["b"], "Of one change among three of none:")
    },
    Check("says nothing of what a failed transaction did") { trial in
      let changes = trial.store.changes()
      trial.expectRollback { try $0.set(1, forKey: "a") }
      try trial.store.set(1, forKey: "b")
      trial.expect(await trial.hears(["b"], from: changes), is: ["b"], "After a transaction that threw, and a change:")
    },
    Check("tells each listener by itself") { trial in
      let first = trial.store.changes()
      try trial.store.set(1, forKey: "a")
      let second = trial.store.changes()
      try trial.store.set(1, forKey: "b")
      trial.expect(await trial.hears(["a", "b"], from: first), is: ["a", "b"], "The first listener:")
      trial.expect(await trial.hears(["b"], from: second), is: ["b"], "One that came between two changes:")
    },
    Check("tells of a change when its value can be read") { trial in
      let changes = trial.store.changes()
      for number in 1...20 {
        try trial.store.set(number, forKey: "a")
        guard await trial.hears(["a"], from: changes) == ["a"] else {
          return trial.expect(false, else: "A change of 20 was not told.")
        }
        trial.expect(try trial.store.value(Int.self, forKey: "a"), is: number, "The value that was told:")
      }
    },
  ]
}
