import AudioFiles

/// The texts about itself that the tool prints or writes for packages and shells. The help mentions
/// only the completion script.
struct ToolText {
  /// The text to be printed.
  let text: String

  /// Creates the text that `arguments` request; nil if they request anything else. Throws if an
  /// argument is wrong, or if a page cannot be written.
  ///
  /// `--generate-completion-script [SHELL]` prints a script for bash, zsh or fish; `--complete
  /// [WORD...]` prints the completions of the last word, and is called by these scripts;
  /// `--generate-manual FOLDER` writes the manual pages and prints their names.
  init?(for arguments: [String], of commands: CommandSet) throws {
    guard let first = arguments.first, first.hasPrefix("--") else { return nil }
    let name = first.prefix { $0 != "=" }
    let value =
      first == name ? arguments.dropFirst().first : String(first.dropFirst(name.count + 1))
    switch name {
    case "--complete":
      text = Completion(of: Array(arguments.dropFirst()), commands).lines.joined(separator: "\n")
    case "--generate-completion-script":
      text = try CompletionScripts.script(for: value)
    case "--generate-manual":
      guard let folder = value, !folder.isEmpty else {
        throw ToolFailure.usage(
          "--generate-manual needs a folder.", hint: "Write --generate-manual man1.")
      }
      let pages = ManualPage.all(of: commands)
      for page in pages {
        try TextFile.write(page.text, to: "\(folder)/\(page.name).1", makingFolders: true)
      }
      text = pages.map { "\($0.name).1" }.joined(separator: "\n")
    default: return nil
    }
  }
}
