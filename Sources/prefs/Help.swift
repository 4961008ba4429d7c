enum Help {
  static let text = """
    Reads and changes a preferences file. Safe while the program it belongs to runs.

    USAGE
      prefs FILE list               the keys, by first writing
      prefs FILE get KEY            the value, as JSON
      prefs FILE set KEY JSON       sets the value; null removes it
      prefs FILE delete KEY         removes the value
      prefs FILE dump               a key, a tab and its value to a line
      prefs FILE export [TARGET]    everything as a JSON object; TARGET is readable by its owner only
      prefs FILE import SOURCE      takes over a JSON object or a property list
      prefs FILE watch              writes each change until it is interrupted
      prefs FILE check              lists what is damaged, by line; changes nothing
      prefs FILE compact            rewrites the file with one line to a key

    EXAMPLES
      prefs ~/.config/app/settings.preferences get volume
      prefs ~/.config/app/settings.preferences set theme '{"name":"dark"}'
      prefs ~/.config/app/settings.preferences set name '"Alex"'

    EXIT STATUS
      0   done
      1   there is no such key, or no such file to read
      64  the arguments make no sense
      65  the file is damaged, or is no preferences file of a version known here
      74  the file or the output could not be read or written
      75  another program has kept the file locked for five seconds
    """
}
