import AudioFiles

/// The text that the tool prints or writes about itself for packages and shells. None of it is in
/// the help but for the completion script.
struct ToolText {
  /// What is to be printed.
  let text: String

  /// What `arguments` ask for; nil where they ask for something else. Throws where they ask for it
  /// wrongly, or where a page cannot be written.
  ///
  /// `--generate-completion-script [SHELL]` prints a script for bash, zsh or fish;
  /// `--complete [WORD...]` prints what the last word may become, and is what these scripts call;
  /// `--generate-manual FOLDER` writes the manual pages.
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
