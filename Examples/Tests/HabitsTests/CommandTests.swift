import HabitsCore
import Testing

@Suite struct CommandTests {
  @Test(
    arguments: [
      ([], .guide), (["add", "Read"], .add("Read")), (["done", "Read a book"], .done("Read a book")), (["list"], .list),
      (["ideas"], .ideas),
      (["rename", "a", "b"], .rename("a", to: "b")), (["remove", "-x"], .remove("-x")), (["help"], .help),
      (["--help"], .help), (["add", "--help"], .help), (["-h"], .help),
    ] as [([String], Command)]) func isReadFromArguments(arguments: [String], command: Command) throws
  {
    #expect(try Command(arguments) == command)
  }

  @Test(arguments: [
    ["add"], ["add", "Read", "books"], ["done"], ["list", "Read"], ["ideas", "1"], ["rename", "a"], ["remove"],
    ["help", "add"],
    ["Add", "x"],
    [""], ["--version"],
  ]) func refusesOtherArguments(arguments: [String]) {
    #expect(throws: UsageError.self) { try Command(arguments) }
  }
}
