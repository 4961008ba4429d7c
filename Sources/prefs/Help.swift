/// The text of `prefs --help`.
enum Help {
  static let text = """
    NAME
      prefs - reads and changes a preferences file

    SYNOPSIS
      prefs FILE COMMAND [ARGUMENT...]
      prefs --help

    DESCRIPTION
      Works on a file of FilePreferenceStore, of the Swift package Spellbook, also while the program that it belongs to
      runs, which sees each change. A change is in the file, whole, when the command has ended.

    COMMANDS
    \(commands)

    VALUES
      A VALUE is JSON. If the key has a text already, it is a text without quotes. A VALUE of - is read from the
      standard input, as is a SOURCE of -; a TARGET of - is the standard output.

      --string   VALUE is a text without quotes; the value of get is printed so
      --json     VALUE is JSON, whatever the key has
      --         as the first argument, before keys and values that look like options

    ENVIRONMENT
      VISUAL, EDITOR      the editor of edit, or else vi
      TMPDIR              where edit keeps its file, which its owner alone can read, or else /tmp
      PREFERENCES_FOLDER  a folder with files to trust although others can write there

    EXIT STATUS
      0   done
      1   there is no such key, or no such file to read
      64  the arguments are invalid
      65  the file is damaged, or isn't a preferences file of a version known here, or what was edited is not JSON
      74  the file or the output could not be read or written
      75  another program has kept the file locked for five seconds, or has changed what was edited

    EXAMPLES
      prefs ~/.config/app/settings.preferences get volume
      prefs ~/.config/app/settings.preferences set volume 7
      prefs ~/.config/app/settings.preferences set theme '{"name":"dark"}'
      prefs ~/.config/app/settings.preferences export - | jq .theme
    """

  private static var commands: String {
    let usages = Command.all.map { "\($0.name) \($0.arguments)" }
    let width = usages.map(\.count).max() ?? 0
    return zip(usages, Command.all).map { usage, command in
      "  \(usage)\(String(repeating: " ", count: width - usage.count))  \(command.summary)"
    }.joined(separator: "\n")
  }
}
