enum Help {
  static let text = """
    NAME
      prefs - reads and changes a preferences file

    SYNOPSIS
      prefs FILE COMMAND [ARGUMENT...]
      prefs --completion bash|zsh|fish
      prefs --help

    DESCRIPTION
      Works on a file of FilePreferenceStore, of the Swift package Spellbook, also while the program that it belongs to
      runs, which sees each change. A change is in the file, whole, when the command has ended.

    COMMANDS
    \(commands)

    VALUES
      A VALUE is JSON. If the key has a string already, it is a string without quotes. A VALUE of - is read from the
      standard input, as is a SOURCE of -; a TARGET of - is the standard output.

      --string   VALUE is a string without quotes; the value of get is printed so
      --json     VALUE is JSON, whatever the key has

    ENVIRONMENT
      VISUAL, EDITOR   the editor of edit, or else vi
      TMPDIR           where edit keeps its file, which its owner alone can read, or else /tmp

    EXIT STATUS
      0   done
      1   there is no such key, no such text, or no such file to read
      64  the arguments are invalid
      65  the file is damaged, or isn't a preferences file of a version known here, or what was edited is not JSON
      74  the file or the output could not be read or written
      75  another program has kept the file locked for five seconds, or has changed what was edited

    EXAMPLES
      prefs ~/.config/app/settings.preferences get volume
      prefs ~/.config/app/settings.preferences set volume 7
      prefs ~/.config/app/settings.preferences set name Ada --string
      prefs ~/.config/app/settings.preferences set theme '{"name":"dark"}'
      prefs ~/.config/app/settings.preferences export - | jq .theme
      EDITOR=nano prefs ~/.config/app/settings.preferences edit

    SEE ALSO
      defaults(1), gsettings(1)
    """

  private static var commands: String {
    let usages = Command.all.map { "\($0.name) \($0.arguments)" }
    let width = usages.map(\.count).max() ?? 0
    return zip(usages, Command.all).map { usage, command in
      "  \(usage)\(String(repeating: " ", count: width - usage.count))  \(command.summary)"
    }.joined(separator: "\n")
  }
}

/// Scripts that make a shell complete the tool's commands, and the keys of the file.
enum Completion {
  static let shells = ["bash", "zsh", "fish"]

  static func script(for shell: String) -> String {
    switch shell {
    case "zsh": zsh
    case "fish": fish
    default: bash
    }
  }

  private static let names = Command.all.map(\.name).joined(separator: " ")
  private static let namesWithKey = Command.all.filter { $0.arguments.contains("KEY") }.map(\.name)

  private static let bash = """
    # Add to ~/.bashrc: source <(prefs --completion bash)
    _prefs() {
      local word=${COMP_WORDS[COMP_CWORD]} file=${COMP_WORDS[1]} key IFS=$'\\n'
      case $COMP_CWORD in
        1) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        2) mapfile -t COMPREPLY < <(compgen -W "\(names.split(separator: " ").joined(separator: "\n"))" -- "$word") ;;
        3)
          case ${COMP_WORDS[2]} in
            \(namesWithKey.joined(separator: "|")))
              # The words are as they were typed; a key is compared as it is, and never evaluated.
              file=${file//\\\\/} word=${word//\\\\/}
              [[ $file == "~/"* ]] && file=$HOME/${file:2}
              COMPREPLY=()
              while read -r key; do
                [[ $key == "$word"* ]] && COMPREPLY+=("$key")
              done < <(prefs "$file" list 2> /dev/null) ;;
            *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
          esac ;;
      esac
    }
    complete -o filenames -F _prefs prefs
    """

  private static let zsh = """
    #compdef prefs
    # Add to ~/.zshrc, after compinit: source <(prefs --completion zsh)
    _prefs() {
      case $CURRENT in
        2) _files ;;
        3)
          local -a commands=(
    \(Command.all.map { "        '\($0.name):\($0.summary)'" }.joined(separator: "\n"))
          )
          _describe command commands ;;
        4)
          case $words[3] in
            \(namesWithKey.joined(separator: "|")))
              local -a keys=("${(@f)$(prefs $words[2] list 2> /dev/null)}")
              compadd -a keys ;;
            *) _files ;;
          esac ;;
      esac
    }
    compdef _prefs prefs
    """

  private static let fish = """
    # Save as ~/.config/fish/completions/prefs.fish
    function __prefs_argument
      test (count (commandline -opc)) -eq $argv[1]
    end
    function __prefs_keys
      set -l words (commandline -opc)
      prefs $words[2] list 2> /dev/null
    end
    complete -c prefs -n '__prefs_argument 1' -F
    \(Command.all.map { "complete -c prefs -n '__prefs_argument 2' -f -a \($0.name) -d '\($0.summary)'" }.joined(separator: "\n"))
    complete -c prefs -n '__prefs_argument 3; and __fish_seen_subcommand_from \(namesWithKey.joined(separator: " "))' \\
      -f -a '(__prefs_keys)'
    """
}
