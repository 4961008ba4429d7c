#if os(macOS) || os(Linux)
  import Foundation
  import Testing

  @Suite struct ExecutableTests {
    let habits: Executable

    init() throws { habits = try Executable() }

    @Test func keepsHabitsInTheFile() throws {
      #expect(try habits.run("add", "Read").code == 0)
      #expect(
        try habits.run("done", "Read") == Executable.Result(output: "\"Read\" is done today, 1 day in a row.\n"))
      #expect(try habits.run("list").output.hasSuffix("\n1  Read     1     1  ·············█\n"))
    }

    @Test func losesNoHabitWhenManyAreAddedAtOnce() throws {
      let ends = try (0..<8).map { try habits.start(["add", "Habit \($0)"]) }
      #expect(try ends.map { try $0() }.allSatisfy { $0.code == 0 })
      let lines = try habits.run("list").output.split(separator: "\n").dropFirst()
      #expect(lines.map { $0.prefix(1) } == (1...8).map { "\($0)" })
      #expect(Set(lines.map { $0.split(separator: " ")[2] }) == Set((0..<8).map { "\($0)" }))
    }

    @Test func marksADayOnceWhenManyAreDoneAtOnce() throws {
      _ = try habits.run("add", "Read")
      let results = try (0..<8).map { _ in try habits.start(["done", "Read"]) }.map { try $0() }
      #expect(results.filter { $0.output.contains("is done today") }.count == 1)
      #expect(results.filter { $0.output.contains("was done today already") }.count == 7)
    }

    @Test(arguments: [
      "Dear diary,\n", "#preferences 99\n", "#preferences 1\n{\"habits\":7}\n",
      "#preferences 1\n{\"habits\":[{\"number\":1,\"name\":\"Read\",\"days\":[\"soon\"]}]}\n",
    ])
    func leavesAFileThatItCannotUseAsItIs(text: String) throws {
      try Data(text.utf8).write(to: habits.file)
      for arguments in [
        ["list"], ["add", "Read"], ["done", "Read"], ["rename", "Read", "Walk"], ["remove", "Read"],
      ] {
        let result = try habits.start(arguments)()
        #expect(result.code == 74)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(habits.file.lastPathComponent))
      }
      #expect(try String(contentsOf: habits.file, encoding: .utf8) == text)
    }

    @Test func needsNoFileToHelp() throws {
      try Data("Dear diary,\n".utf8).write(to: habits.file)
      #expect(try habits.run("help").code == 0)
      #expect(try habits.run("lost").code == 64)
    }

    @Test func losesNothingWhenTheFileCannotGrow() throws {
      _ = try habits.run("add", "Read")
      let before = try Data(contentsOf: habits.file)
      let result = try habits.start(["done", "Read"], in: "trap '' XFSZ; ulimit -f 0; exec \"$@\"")()
      #expect(result.code == 74)
      #expect(result.errors.hasPrefix("Habits: "))
      #expect(try Data(contentsOf: habits.file) == before)
      #expect(try habits.run("done", "Read").output.contains("is done today"))
    }

    @Test func tellsWhatWasDamagedAndGoesOn() throws {
      _ = try habits.run("add", "Read")
      let file = try FileHandle(forWritingTo: habits.file)
      try file.seekToEnd()
      try file.write(contentsOf: Data("12345678 {\"habi".utf8))
      try file.close()
      let result = try habits.run("done", "Read")
      #expect(result.code == 0)
      #expect(result.errors.hasPrefix("Habits: the file was damaged: 15 bytes at the end"))
      #expect(try habits.run("list").errors.isEmpty)
    }

    @Test func showsTheSameGuidedRunEachTimeButForItsNumber() throws {
      for number in 1...2 {
        #expect(try habits.run() == Executable.Result(output: "\(guide)\n  guided runs so far: \(number)\n"))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: habits.folder.path) == ["habits.preferences"])
      #expect(try habits.run("list").output.hasPrefix("No habit yet."))
    }
  }

  private let guide = #"""
    A guided run, with habits of its own: yours stay as they are. For the commands: Habits help
    Services are made when they are first needed
      tracker before the first command: not made
      $ Habits add Read
      Habit 1 is added. When you have done it: Habits done 1
      properties that asked the registry: Program.tracker, HabitBook.store, HabitBook.habits, HabitBook.lastNumber, Program.console
    The clock is injected, so days pass at once
      2026-03-28 $ Habits done Read
      "Read" is done today, 1 day in a row.
      2026-03-30 $ Habits done Read
      "Read" is done today, 1 day in a row.
      2026-03-31 $ Habits done Read
      "Read" is done today, 2 days in a row.
      2026-04-01 $ Habits done Read
      "Read" is done today, 3 days in a row.
      2026-04-01 $ Habits done Read
      "Read" was done today already, 3 days in a row.
    A habit's number is assigned once
      number of the draft: not assigned
      number of the habit in the book: 2
      assigning 7: HabitDraft.number, of type Int, is assigned already, and @Final allows one assignment. Look at $number.hasValue first, or declare it without @Final.
    A second program opens the same file
      $ Habits list
      #  Habit    Now  Best  Last 14 days
      1  Read       3     3  ·········█·███
      2  Walk 🚶    0     0  ··············
      the file's last line: 02dd47f5 {"lastNumber":2,"habits":[{"days":["2026-03-28","2026-03-30","2026-03-31","2026-04-01"],"name":"Read","number":1},{"days":[],"name":"Walk 🚶","number":2}]}
    Kept for the next run, in your own preferences
    """#
#endif
