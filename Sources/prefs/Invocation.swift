import PreferenceStorage

/// What the tool was asked to do.
enum Invocation: Equatable {
  case help
  case command(Command, path: FilePath)

  /// Reads the arguments, the name of the tool not among them.
  init(_ arguments: [FilePath]) throws(UsageError) {
    if arguments.isEmpty { throw UsageError(message: "which file?") }
    // An argument of `set` may well be "-h".
    if arguments.count < 3, arguments.contains(where: { $0 == "--help" || $0 == "-h" }) {
      self = .help
      return
    }
    if arguments[0].bytes.first == UInt8(ascii: "-") { throw UsageError(message: "there is no option \(arguments[0])") }
    guard arguments.count > 1 else { throw UsageError(message: "what about \(arguments[0])?") }
    self = .command(try Command(name: arguments[1].description, Array(arguments.dropFirst(2))), path: arguments[0])
  }
}

/// The arguments make no sense.
struct UsageError: Error, Equatable {
  let message: String
}

/// What can be done with a file.
enum Command: Equatable {
  case list, dump, watch, check, compact
  case get(key: String)
  case set(key: String, json: String)
  case delete(key: String)
  case export(path: FilePath?)
  case `import`(path: FilePath)

  init(name: String, _ arguments: [FilePath]) throws(UsageError) {
    func expect(_ names: String...) throws(UsageError) {
      guard arguments.count == names.count else {
        let usage = ([name] + names).joined(separator: " ")
        throw UsageError(message: "it is: prefs FILE \(usage)")
      }
    }
    switch name {
    case "list", "dump", "watch", "check", "compact": try expect()
    case "get", "delete": try expect("KEY")
    case "set": try expect("KEY", "JSON")
    case "import": try expect("SOURCE")
    case "export" where arguments.count > 1: try expect("[TARGET]")
    default: break
    }
    switch name {
    case "list": self = .list
    case "dump": self = .dump
    case "watch": self = .watch
    case "check": self = .check
    case "compact": self = .compact
    case "get": self = .get(key: try Command.text(arguments[0]))
    case "set": self = .set(key: try Command.text(arguments[0]), json: try Command.text(arguments[1]))
    case "delete": self = .delete(key: try Command.text(arguments[0]))
    case "import": self = .import(path: arguments[0])
    case "export": self = .export(path: arguments.first)
    default: throw UsageError(message: "there is no command \(name)")
    }
  }

  /// A key or a value, which are text, where a file's name need not be.
  private static func text(_ argument: FilePath) throws(UsageError) -> String {
    guard let text = String(validating: argument.bytes, as: UTF8.self) else {
      throw UsageError(message: "\(argument.description.debugDescription) is not UTF-8, as keys and values are")
    }
    return text
  }
}
