internal import PreferenceStorage

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
