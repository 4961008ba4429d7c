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
      local word=${COMP_WORDS[COMP_CWORD]} IFS=$'\\n'
      case $COMP_CWORD in
        1) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        2) mapfile -t COMPREPLY < <(compgen -W "\(names.split(separator: " ").joined(separator: "\n"))" -- "$word") ;;
        3)
          case ${COMP_WORDS[2]} in
            \(namesWithKey.joined(separator: "|")))
              mapfile -t COMPREPLY < <(compgen -W "$(prefs "${COMP_WORDS[1]}" list 2> /dev/null)" -- "$word") ;;
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
