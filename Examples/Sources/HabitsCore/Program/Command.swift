/// A command that the program carries out, parsed from its arguments.
package enum Command: Equatable {
  case guide
  case add(String)
  case done(String)
  case list
  case ideas
  case rename(String, to: String)
  case remove(String)
  case help

  /// Creates a command from the program's arguments, which don't include the program's name.
  ///
  /// - Throws: An error that says what is wrong with the arguments.
  package init(_ arguments: [String]) throws(UsageError) {
    if arguments.contains(where: { ["--help", "-h"].contains($0) }) {
      self = .help
      return
    }
    let names = Array(arguments.dropFirst())
    switch (arguments.first, names.count) {
    case (nil, _): self = .guide
    case ("add", 1): self = .add(names[0])
    case ("done", 1): self = .done(names[0])
    case ("list", 0): self = .list
    case ("ideas", 0): self = .ideas
    case ("rename", 2): self = .rename(names[0], to: names[1])
    case ("remove", 1): self = .remove(names[0])
    case ("help", 0): self = .help
    case ("add"?, _), ("done"?, _), ("list"?, _), ("ideas"?, _), ("rename"?, _), ("remove"?, _),
      ("help"?, _):
      throw UsageError(description: "\(arguments[0]) does not go with \(names.count.counted("name")).")
    case (let word?, _): throw UsageError(description: "There is no command \"\(word)\".")
    }
  }

  package static let usage = """
    Usage: Habits add NAME            begin a habit
           Habits done NAME           mark it as done today
           Habits list                show the habits and their days in a row
           Habits ideas               show habits that others have
           Habits rename NAME NAME    give it another name
           Habits remove NAME         forget it and its days
           Habits help                show this
           Habits                     show a guided run

    A name of several words goes in quotes. A habit's number does for its name.
    The habits are kept in the file that HABITS_FILE names, else in the settings folder.
    """
}

/// An error for arguments that don't form a command.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  package let description: String
}

extension Int {
  /// Returns the number with a word in the singular or plural, such as `1 day` or `2 days`.
  func counted(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}
