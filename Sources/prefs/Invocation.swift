import PreferenceStorage

/// The parsed command line.
enum Invocation: Equatable {
  case help
  case command(Command, path: FilePath)

  /// Parses the arguments, which don't include the name of the tool.
  init(_ arguments: [FilePath]) throws(UsageError) {
    if arguments.isEmpty { throw UsageError(message: "missing file") }
    // Among three or more arguments, "--help" or "-h" may be a key or a value.
    if arguments.count < 3, arguments.contains(where: { $0 == "--help" || $0 == "-h" }) {
      self = .help
      return
    }
    if arguments[0].bytes.first == UInt8(ascii: "-") { throw UsageError(message: "there is no option \(arguments[0])") }
    guard arguments.count > 1 else { throw UsageError(message: "missing command") }
    self = .command(try Command(name: arguments[1].description, Array(arguments.dropFirst(2))), path: arguments[0])
  }
}

/// An error that the user can avoid with other arguments or another standard input.
struct UsageError: Error, Equatable { let message: String }

extension Command {
  /// The names, arguments and summaries of the commands, in the order in which the help text lists the commands.
  static let all: [(name: String, arguments: String, summary: String)] = [
    ("list", "", "each key with its value, by first writing"),
    ("get", "KEY... [--string]", "the values, as JSON, or texts without quotes"),
    ("set", "KEY VALUE [--string|--json]", "sets the value; null removes it"),
    ("delete", "KEY", "removes the value"),
    ("rename", "KEY NEW", "moves the value to a key that has none"),
    ("edit", "[KEY]", "opens all values, or one, in $VISUAL or $EDITOR"),
    ("export", "[TARGET [KEY...]]", "a JSON object of all or some, for its owner only"),
    ("import", "SOURCE [--replace]", "takes over a JSON object or a property list"),
    ("watch", "[KEY]", "writes each change until it is interrupted"),
    ("overrides", "PREFIX", "keys that variables such as PREFIX_VOLUME override"),
    ("compact", "", "erases what was removed or replaced"),
    ("check", "", "says what is damaged, by line; changes nothing"),
  ]

  init(name: String, _ arguments: [FilePath]) throws(UsageError) {
    guard let usage = Command.all.first(where: { $0.name == name }) else {
      throw UsageError(message: "there is no command \(name)")
    }
    var texts = arguments
    // After a first argument of `--`, no argument is an option.
    let hasOptions = texts.first != "--" || texts.count == 1
    if !hasOptions { texts.removeFirst() }
    let form = hasOptions && usage.arguments.contains("[--string") ? Command.takeForm(from: &texts) : .kept
    let replaces = hasOptions && usage.arguments.contains("[--replace") && texts.last == "--replace"
    if replaces { texts.removeLast() }
    let names = usage.arguments.split(separator: " ").filter { !$0.hasPrefix("[--") }
    let required = names.count { !$0.hasPrefix("[") }
    let most = names.last?.contains("...") == true ? Int.max : names.count
    guard (required...most).contains(texts.count), name == "set" || form != .json else {
      throw UsageError(message: "usage: prefs FILE \(name) \(usage.arguments)")
    }
    func text(_ index: Int) throws(UsageError) -> String { try Command.text(texts[index]) }
    switch name {
    case "list": self = .list
    case "get": self = .get(keys: try texts.map(Command.text), isText: form == .text)
    case "set": self = .set(key: try text(0), value: try text(1), form)
    case "delete": self = .delete(key: try text(0))
    case "rename": self = .rename(key: try text(0), to: try text(1))
    case "edit": self = .edit(key: texts.isEmpty ? nil : try text(0))
    case "import": self = .import(path: texts[0], replaces: replaces)
    case "export": self = .export(path: texts.first, keys: try texts.dropFirst().map(Command.text))
    case "watch": self = .watch(key: texts.isEmpty ? nil : try text(0))
    case "overrides": self = .overrides(prefix: try text(0))
    case "compact": self = .compact
    default: self = .check
    }
  }

  /// Removes the last argument if it is `--string` or `--json`.
  ///
  /// An earlier `--string` or `--json` is a key or a value.
  ///
  /// - Returns: The form that the removed option stands for, or `.kept` if no option was removed.
  private static func takeForm(from arguments: inout [FilePath]) -> ValueForm {
    let form: ValueForm
    switch arguments.last {
    case "--string": form = .text
    case "--json": form = .json
    default: return .kept
    }
    arguments.removeLast()
    return form
  }

  /// Returns a key or a value as text.
  ///
  /// - Throws: An error if the argument isn't valid UTF-8. Only a file name can contain other bytes.
  private static func text(_ argument: FilePath) throws(UsageError) -> String {
    guard let text = String(validating: argument.bytes, as: UTF8.self) else {
      throw UsageError(message: "\(argument.description.debugDescription) is not UTF-8, as keys and values are")
    }
    return text
  }
}
