import Foundation
import TestSupport
import Testing

/// Tests of the commands that a person types.
@Suite("prefs, by hand") final class CommandTests: Sendable {
  let folder: TemporaryFolder
  var file: String { folder.path(of: "settings.preferences") }

  init() throws {
    folder = try TemporaryFolder()
  }

  func run(_ arguments: String...) throws -> (status: Int32?, output: String) {
    let result = try Tool.run(arguments)
    return (result.status, result.output)
  }

  /// Runs a line in a shell in which `prefs` is the tool and `$file` is the file.
  func shell(_ line: String) throws -> Tool.Result {
    try Tool.run("/bin/sh", ["-c", "prefs() { '\(Tool.path)' \"$@\"; }; file='\(file)'; \(line)"])
  }

  @Test("takes a text without quotes if the key has a text, or with the option for it")
  func strings() throws {
    #expect(try run(file, "set", "name", "Ada").status == 64)
    #expect(try run(file, "set", "name", "Ada", "--string").status == 0)
    #expect(try run(file, "get", "name").output == "\"Ada\"\n")
    #expect(try run(file, "get", "name", "--string").output == "Ada\n")
    for (value, json) in [("Grace \"G\"", "\"Grace \\\"G\\\"\""), ("7", "\"7\""), ("\"x\"", "\"x\"")] {
      #expect(try run(file, "set", "name", value).status == 0)
      #expect(try run(file, "get", "name").output == json + "\n")
    }
    #expect(try run(file, "set", "name", "7", "--json").status == 0)
    #expect(try run(file, "get", "name").output == "7\n")
    #expect(try run(file, "set", "volume", "7").status == 0)
    #expect(try run(file, "set", "volume", "loud").status == 64)
    #expect(try run(file, "get", "volume").output == "7\n")
    #expect(try run(file, "set", "--string", "-").status == 64)
    // The combining accent and the quote before it are one character in Swift.
    #expect(try run(file, "set", "name", "\u{301}x", "--string").status == 0)
    #expect(try run(file, "set", "name", "hello").status == 0)
    #expect(try run(file, "get", "name").output == "\"hello\"\n")
  }

  @Test("reads the standard input and writes the standard output for -")
  func standardStreams() throws {
    #expect(
      try shell("printf '{\"a\":1}' | prefs \"$file\" import - && prefs \"$file\" export -").output
        == "{\n  \"a\": 1\n}\n")
    #expect(try shell("printf 'two\\nlines\\n' | prefs \"$file\" set b - --string").status == 0)
    #expect(try run(file, "get", "b").output == "\"two\\nlines\"\n")
    #expect(try shell("printf '{\"c\":1}' | prefs \"$file\" import /dev/stdin; prefs \"$file\" get c").output == "1\n")
    #expect(try shell("printf '\\377' | prefs \"$file\" set d -").status == 64)
    let refusal = try shell("printf 'my secret' | prefs \"$file\" set d - --json 2>&1").output
    #expect(refusal.contains("the input is not one JSON value") && !refusal.contains("secret"))
    #expect(try folder.names.count == 1)
  }

  @Test("takes no argument after -- for an option")
  func keysLikeOptions() throws {
    #expect(try run(file, "set", "--", "--string", "7").status == 0)
    #expect(try run(file, "get", "--", "--string").output == "7\n")
    #expect(try run(file, "set", "--", "text", "--json").status == 64)
    #expect(try run(file, "set", "--", "--", "8").status == 0)
    #expect(try run(file, "get", "--", "--").output == "8\n")
    #expect(try run(file, "delete", "--", "--").status == 0)
    #expect(try run(file, "list").output == "--string\t7\n")
  }

  @Test("trusts a folder that others can write if PREFERENCES_FOLDER names it, and no other one")
  func trustedFolder() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
    let new = folder.path(of: "new/settings.preferences")
    #expect(try shell("prefs \"$file\" set a 1").status == 74)
    #expect(try shell("export PREFERENCES_FOLDER=/usr; prefs \"$file\" set a 1").status == 74)
    let trusting = "export PREFERENCES_FOLDER='\(folder.url.path)'"
    #expect(try shell("\(trusting); prefs \"$file\" set a 1; prefs \"$file\" get a").output == "1\n")
    #expect(try shell("\(trusting); prefs '\(new)' set a 2; prefs '\(new)' get a").output == "2\n")
  }

  @Test("exports to a file with a name of any length")
  func longName() throws {
    _ = try run(file, "set", "a", "1")
    let target = folder.path(of: String(repeating: "y", count: 255))
    #expect(try run(file, "export", target).status == 0)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "{\n  \"a\": 1\n}\n")
    #expect(try folder.names.count == 2)
  }

  @Test("renames a key, unless that would replace another value")
  func rename() throws {
    _ = try run(file, "set", "a", "1")
    _ = try run(file, "set", "b", "2")
    #expect(try Tool.run([file, "rename", "a", "b"]).errors.contains("has a value already"))
    #expect(try run(file, "rename", "c", "d").status == 1)
    #expect(try run(file, "rename", "a", "c").status == 0)
    #expect(try run(file, "list").output == "b\t2\nc\t1\n")
  }

  @Test("exports some keys, and imports them in place of all, from a pipe with a name, too")
  func someKeys() throws {
    for key in ["a", "b", "c"] { _ = try run(file, "set", key, "1") }
    #expect(try run(file, "export", "-", "c", "a").output == "{\n  \"c\": 1,\n  \"a\": 1\n}\n")
    #expect(try run(file, "export", "-", "c", "x") == (1, ""))
    let pipe = folder.path(of: "pipe")
    #expect(
      try shell("mkfifo '\(pipe)'; prefs \"$file\" export - b > '\(pipe)' & prefs \"$file\" import '\(pipe)' --replace")
        .status
        == 0)
    #expect(try run(file, "list").output == "b\t1\n")
    #expect(try shell("printf '{\"d\":2}' | prefs \"$file\" import - --replace").status == 0)
    #expect(try run(file, "list").output == "d\t2\n")
    #expect(try shell("printf 'no' | prefs \"$file\" import - --replace").status == 74)
    #expect(try run(file, "list").output == "d\t2\n")
  }

  @Test("erases a removed value from the file")
  func compact() throws {
    _ = try run(file, "set", "token", "s3cret", "--string")
    _ = try run(file, "delete", "token")
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("s3cret"))
    #expect(try run(file, "compact").status == 0)
    #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("s3cret"))
  }

  @Test("shows what variables of the environment override, and those for which the file has no key")
  func overrides() throws {
    _ = try run(file, "set", "ui.volume", "5")
    _ = try run(file, "set", "b", "2")
    let result = try shell("APP_UI_VOLUME=8 APP_C=1 prefs \"$file\" overrides APP")
    #expect(result.output == "ui.volume\t8\tthe environment variable APP_UI_VOLUME\n" && result.status == 0)
    #expect(result.errors.contains("the file has no key for the environment variable APP_C"))
    #expect(try run(file, "get", "ui.volume").output == "5\n")
  }

  @Test("doesn't call a file damaged that was begun by hand")
  func begunByHand() throws {
    #expect(try shell("echo '{\"volume\":3}' > \"$file\"").status == 0)
    let list = try Tool.run([file, "list"])
    #expect(
      list
        == Tool.Result(
          status: 0, output: "volume\t3\n", errors: "prefs: \(file) has no first line; the next write adds one\n"))
    #expect(try run(file, "check").status == 0)
    #expect(try run(file, "set", "a", "1").status == 0)
    #expect(try run(file, "check").output == "sound: 2 keys\n")
  }

  @Test("ends an export beyond the limit of a file's size with an error")
  func sizeLimit() throws {
    _ = try run(file, "set", "a", "1")
    let result = try shell("ulimit -f 0; prefs \"$file\" export '\(folder.path(of: "out.json"))'")
    #expect(result.status == 74 && result.errors.contains("nothing was exported"))
    #expect(try folder.names.count == 1)
  }

  @Test("edits in an editor, checks what was saved, and takes over what was changed")
  func edit() throws {
    _ = try run(file, "set", "a", "1")
    _ = try run(file, "set", "b", "2")
    // If an edit isn't applied, its file is kept.
    let edit = "export TMPDIR='\(folder.url.path)'; prefs \"$file\" edit; echo $?"
    #expect(try shell("export EDITOR='sed -i s/1/10/'; \(edit)").output == "0\n")
    #expect(try run(file, "export").output == "{\n  \"a\": 10,\n  \"b\": 2\n}\n")
    #expect(try shell("export EDITOR='sed -i /a/d'; \(edit)").output == "0\n")
    #expect(try run(file, "list").output == "b\t2\n")
    // This editor's path has a space, so it is in quotes, before arguments. The editor is a link, because a program
    // that was just written can't be run while a process that another test starts has its descriptor.
    let editors = folder.path(of: "my editors")
    try FileManager.default.createDirectory(atPath: editors, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: editors + "/sed", withDestinationPath: "/usr/bin/sed")
    #expect(try shell("export EDITOR=\"'\(editors)/sed' -i s/2/3/\"; \(edit)").output == "0\n")
    #expect(try run(file, "get", "b").output == "3\n")
    _ = try run(file, "set", "b", "2")
    let broken = try shell("export EDITOR='sed -i s/2/x/'; \(edit)")
    #expect(broken.output == "65\n")
    #expect(broken.errors.contains("is kept in \(folder.url.path)/prefs-"))
    #expect(try shell("export EDITOR=false; \(edit)").output == "74\n")
    #expect(try shell("export EDITOR='sed -i s/2/5/'; prefs \"$file\" edit b; prefs \"$file\" get b").output == "5\n")
    // While this editor runs, another program changes the file.
    let editor = folder.path(of: "editor")
    try Data("#!/bin/sh\n'\(Tool.path)' '\(file)' set b 6\nsed -i s/5/7/ \"$1\"\n".utf8).write(
      to: URL(filePath: editor))
    #expect(try shell("export EDITOR='sh \(editor)'; \(edit)").output == "75\n")
    #expect(try run(file, "get", "b").output == "6\n")
    // The store refuses this edit.
    let refused = try shell("export EDITOR='sed -i s/\\\"b\\\"/\\\"\\\"/'; \(edit)")
    #expect(refused.errors.contains("is kept in \(folder.url.path)/prefs-"))
  }

  @Test("edits a value that a person has written with spaces", arguments: ["", "a"])
  func editHandwritten(key: String) throws {
    try Data("{\"a\": [1, 2], \"b\": { \"c\" : 3 }}\n".utf8).write(to: URL(filePath: file))
    let edit = "export TMPDIR='\(folder.url.path)' EDITOR='sed -i s/1/10/'; prefs \"$file\" edit \(key); echo $?"
    #expect(try shell(edit).output == "0\n")
    #expect(try run(file, "list").output == "a\t[10,2]\nb\t{ \"c\" : 3 }\n")
  }

  @Test("says that an editor has removed its file")
  func removingEditor() throws {
    _ = try run(file, "set", "a", "1")
    let result = try shell("export TMPDIR='\(folder.url.path)' EDITOR=rm; prefs \"$file\" edit; echo $?")
    #expect(result.output == "74\n")
    #expect(result.errors.contains("the editor removed"))
    #expect(try folder.names.count == 1)
  }

  @Test("exports into a pipe and through a link, which stay what they are")
  func exportTargets() throws {
    _ = try run(file, "set", "a", "1")
    let folder = folder.url.path
    let json = "{\n  \"a\": 1\n}\n"
    func output(_ line: String) throws -> String { try shell("cd '\(folder)'; \(line)").output }
    #expect(try output("prefs \"$file\" export /dev/stdout | cat; test -L /dev/stdout && echo link") == json + "link\n")
    let fifo = "mkfifo fifo; cat fifo & prefs \"$file\" export fifo; wait; test -p fifo && echo fifo"
    #expect(try output(fifo) == json + "fifo\n")
    let link = "echo longer than the export is >real; ln -s real link; prefs \"$file\" export link; cat real"
    #expect(try output("\(link); test -L link && echo link") == json + "link\n")
    #expect(try output("ln -s \"$file\" own; prefs \"$file\" export own; echo $?") == "64\n")
    #expect(try output("ln -s absent dangling; prefs \"$file\" export dangling; echo $?") == "74\n")
    #expect(try run(file, "get", "a").output == "1\n")
  }

  @Test("has a help with every command")
  func help() throws {
    let help = try run("--help").output
    for command in ["list", "get", "set", "delete", "edit", "export", "import", "watch", "check"] {
      #expect(help.contains("  \(command) "))
    }
    #expect(help.split(separator: "\n").allSatisfy { $0.count <= 120 })
  }
}
