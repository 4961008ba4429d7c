public import ArgumentParser
import Foundation
import InjectedSpell
import PreferenceSpell
public import PreferenceStorage
import SpellRegistry
import StandardKeys

/// The root command of the tool, whose subcommands do the work.
///
/// The `CodingKeys` of each subcommand list the properties that the parser fills in. The registry and the preference
/// store provide the other properties.
public struct Notes: ParsableCommand {
  /// The name and the subcommands of the tool.
  public static let configuration = CommandConfiguration(
    commandName: "notes", abstract: "Keeps notes.",
    subcommands: [Add.self, List.self, Done.self, Settings.self], defaultSubcommand: List.self)

  /// Creates the command without its arguments, which the parser fills in.
  public init() {}
}

extension Notes {
  /// A subcommand that adds a note.
  public struct Add: ParsableCommand {
    /// The summary that `--help` shows.
    public static let configuration = CommandConfiguration(abstract: "Adds a note.")

    @Argument(help: "The text.") var words: [String]
    @Flag(inversion: .prefixedNo, help: "Puts the note first. (default: the setting)") var urgent: Bool?

    @Injected var notebook: any Notebook
    @Injected var console: any Console
    @Injected(.now) var now: @Sendable () -> Date
    @Preference(.isUrgent) var isUrgentByDefault: Bool

    enum CodingKeys: CodingKey { case words, urgent }

    /// Creates the command without its arguments, which the parser fills in.
    public init() {}

    /// Adds the note, and prints its number.
    public func run() throws {
      var notes = try notebook.notes()
      let number = (notes.map(\.number).max() ?? 0) + 1
      notes.append(
        Note(
          number: number, text: words.joined(separator: " "), isUrgent: urgent ?? isUrgentByDefault, date: now()))
      try notebook.replace(with: notes)
      console.print("Note \(number) added.")
    }
  }

  /// A subcommand that lists the notes.
  public struct List: ParsableCommand {
    /// The summary that `--help` shows.
    public static let configuration = CommandConfiguration(abstract: "Lists the notes.")

    @Option(help: "The order. (default: the setting)") var order: SortOrder?

    @Injected var notebook: any Notebook
    @Injected var console: any Console
    @Preference(.order) var defaultOrder: SortOrder

    enum CodingKeys: CodingKey { case order }

    /// Creates the command without its arguments, which the parser fills in.
    public init() {}

    /// Prints a line for each note, or a message if there are no notes.
    public func run() throws {
      let notes = try notebook.notes()
      for note in sorted(notes) { console.print("\(note.isUrgent ? "!" : " ") \(note.number)  \(note.text)") }
      if notes.isEmpty { console.print("There are no notes.") }
    }

    private func sorted(_ notes: [Note]) -> [Note] {
      switch order ?? defaultOrder {
      case .urgency: notes.filter(\.isUrgent) + notes.filter { !$0.isUrgent }
      case .date: notes
      case .text: notes.sorted { $0.text < $1.text }
      }
    }
  }

  /// A subcommand that removes a note.
  public struct Done: ParsableCommand {
    /// The summary that `--help` shows.
    public static let configuration = CommandConfiguration(abstract: "Removes a note.")

    @Argument(help: "The note's number.") var number: Int

    @Injected var notebook: any Notebook
    @Injected var console: any Console

    enum CodingKeys: CodingKey { case number }

    /// Creates the command without its arguments, which the parser fills in.
    public init() {}

    /// Removes the note, and prints its text.
    public func run() throws {
      var notes = try notebook.notes()
      guard let index = notes.firstIndex(where: { $0.number == number }) else {
        throw ValidationError("There is no note \(number).")
      }
      console.print("Done: \(notes.remove(at: index).text)")
      try notebook.replace(with: notes)
    }
  }

  /// A subcommand that shows and changes the settings.
  public struct Settings: ParsableCommand {
    /// The summary that `--help` shows.
    public static let configuration = CommandConfiguration(abstract: "Shows the settings, or changes them.")

    @Option(help: "The order of list.") var order: SortOrder?
    @Flag(inversion: .prefixedNo, help: "Whether new notes are urgent.") var urgent: Bool?

    @Injected var console: any Console
    @Preference(.order) var storedOrder: SortOrder
    @Preference(.isUrgent) var isUrgent: Bool

    enum CodingKeys: CodingKey { case order, urgent }

    /// Creates the command without its arguments, which the parser fills in.
    public init() {}

    /// Changes the settings that the arguments name, and prints all settings.
    ///
    /// - Throws: A `PreferenceError` if the preferences file can't be written, or has an invalid value for a setting.
    public func run() throws {
      if let order { try $storedOrder.set(order) }
      if let urgent { try $isUrgent.set(urgent) }
      console.print("\($storedOrder.key) = \(try $storedOrder.load())")
      console.print("\($isUrgent.key) = \(try $isUrgent.load())")
    }
  }
}

/// The order in which notes are listed.
public enum SortOrder: String, CaseIterable, Codable, ExpressibleByArgument, Sendable {
  /// Urgent notes first, otherwise in the order in which they were added.
  case urgency
  /// In the order in which the notes were added.
  case date
  /// Sorted by the notes' texts.
  case text
}

extension PreferenceKeys {
  /// The order that the command `list` uses without the option `--order`.
  public static let order = PreferenceKey("list.order", default: SortOrder.urgency)
  /// Whether the command `add` makes a note urgent without the flag `--urgent` or `--no-urgent`.
  public static let isUrgent = PreferenceKey("add.urgent", default: false)
}
