#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Preference values for one run of the program, from its arguments, its environment, or its own code.
///
/// An ``OverridingPreferenceStore`` reads the overrides in place of another store's values, and never stores them.
///
/// ```sh
/// player -volume 8 -ui.theme dark -hasSeenTour YES
/// PLAYER_VOLUME=8 PLAYER_UI_THEME=dark player
/// ```
///
/// A value is decoded as JSON or, if that fails, as a string, so text needs no quotes. A `Bool` can also be written as
/// `YES` or `NO`, `on` or `off`, `1` or `0`. A value of `null` hides the stored value, so the default is read.
public struct PreferenceOverrides: Sendable {
  private var values: [String: PreferenceOverride] = [:]
  /// A function from a key to its name in `values`: the key itself, or the name of an environment variable.
  private let name: @Sendable (_ key: String) -> String

  /// Returns the values in the arguments of a program, such as `8` for the key `volume` in `-volume 8`.
  ///
  /// As in `UserDefaults`, an argument that begins with one hyphen is a key if the next argument is a value. A value is
  /// a negative number, or any text that doesn't begin with a hyphen. The first argument, options with two hyphens, and
  /// all arguments after `--` are skipped. If a key has several values, the last value counts.
  public static func arguments(_ arguments: [String] = CommandLine.arguments) -> PreferenceOverrides {
    var overrides = PreferenceOverrides { $0 }
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst(), argument != "--" {
      let key = argument.dropFirst()
      guard argument.hasPrefix("-"), !key.isEmpty, !key.hasPrefix("-") else { continue }
      guard let value = rest.first, !value.hasPrefix("-") || JSONText(value).isJSON else { continue }
      rest.removeFirst()
      overrides.values[String(key)] = PreferenceOverride(value, from: "the argument \(argument)")
    }
    return overrides
  }

  /// Returns the values in the environment of a program, such as `8` for the key `volume` in `APP_VOLUME=8`.
  ///
  /// The name of a variable is the prefix, followed by the key's words in capitals, separated by underscores. With the
  /// prefix `APP`, the key `ui.lastOpened` has the variable `APP_UI_LAST_OPENED`. Keys such as `ui.theme` and `uiTheme`
  /// share a variable.
  ///
  /// - Parameters:
  ///   - prefix: The beginning of the variables' names, with or without the underscore after it.
  ///   - environment: The variables and their values.
  public static func environment(
    prefix: String, _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> PreferenceOverrides {
    let prefix = prefix.isEmpty || prefix.hasSuffix("_") ? prefix : prefix + "_"
    var overrides = PreferenceOverrides { prefix + variable(ofKey: $0) }
    for (name, value) in environment where name.hasPrefix(prefix) {
      overrides.values[name] = PreferenceOverride(value, from: "the environment variable \(name)")
    }
    return overrides
  }

  /// Creates overrides from values that the program provides, for instance from its own command-line options.
  ///
  /// - Precondition: Each value can be encoded.
  public init(_ values: KeyValuePairs<String, any Codable & Sendable>) {
    self.init { $0 }
    for (key, value) in values {
      do { self.values[key] = PreferenceOverride(try JSONText(encoding: value)) } catch {
        preconditionFailure("The override of the key \(key.debugDescription) can't be encoded: \(error)")
      }
    }
  }

  private init(name: @escaping @Sendable (_ key: String) -> String) { self.name = name }

  /// The override of a key, or nil if the key isn't overridden.
  subscript(key: String) -> PreferenceOverride? { values.isEmpty ? nil : values[name(key)] }

  /// The sources of the values, such as "the argument -volume", in alphabetical order.
  package var sources: [String] { values.values.map(\.source).sorted() }

  /// Returns the words of the key in capitals, with underscores between them.
  private static func variable(ofKey key: String) -> String {
    var name = ""
    let characters = Array(key)
    for (index, character) in characters.enumerated() {
      guard character.isLetter || character.isNumber else {
        name += "_"
        continue
      }
      if character.isUppercase, index > 0 {
        let (before, after) = (characters[index - 1], characters[(index + 1)...].first)
        // A word begins at `O` in `lastOpened`, and at `S` in `HTTPServer`.
        if before.isLowercase || before.isNumber || before.isUppercase && after?.isLowercase == true { name += "_" }
      }
      name += character.uppercased()
    }
    return name
  }
}

/// A value that overrides one key for this run, and the source of the value.
package struct PreferenceOverride: Sendable {
  /// The source of the value as text for messages, such as "the argument -volume".
  package let source: String
  /// The value as JSON text; an argument or a variable that isn't JSON becomes a JSON string.
  private let text: JSONText
  /// The text of an argument or an environment variable; nil for a value from the program's code.
  private let word: String?

  fileprivate init(_ word: String, from source: String) {
    (self.word, self.source) = (word, source)
    text = JSONText(validating: word) ?? JSONText(string: word)
  }

  fileprivate init(_ text: JSONText) { (self.text, word, source) = (text, nil, "the program") }

  /// The value as JSON text in one line; nil if the value is `null`, which hides the stored value.
  package var json: String? { text.isNull ? nil : text.string }

  /// Returns the value as the requested type, or nil if the value is `null`.
  ///
  /// - Throws: `.typeMismatch` if the value can't be read as the type. The error doesn't contain the value.
  package func value<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(PreferenceError) -> Value? {
    if text.isNull { return nil }
    var readings = [text]
    if let word {
      readings.append(JSONText(string: word))
      switch word.lowercased() {
      case "yes", "on", "true", "1": readings.append(JSONText("true"))
      case "no", "off", "false", "0": readings.append(JSONText("false"))
      default: break
      }
    }
    for reading in readings { do { return try reading.decode(type) } catch {} }
    throw PreferenceError(
      .typeMismatch, "\(source) has a value that can't be read as \(type); give it one, as JSON or as a text", key: key)
  }
}
