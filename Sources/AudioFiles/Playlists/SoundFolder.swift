import Glibc

/// A folder of sound files.
public enum SoundFolder {
  /// Whether there is a folder of that name.
  public static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The sound files in the folder and all folders within, by their names' endings, in the order of
  /// their names: those of a folder before those of the folders in it. Throws `.permissionDenied`,
  /// and `.cannotOpen` where there are none.
  public static func files(in path: String) throws(FileFailure) -> [String] {
    var found: [String] = []
    do throws(SystemError) {
      try collect(path, depth: 0, into: &found)
    } catch {
      throw .reading(path, error)
    }
    guard !found.isEmpty else {
      throw FileFailure(
        .cannotOpen, "There are no sound files in \(path).",
        hint: "Name the files themselves if their names do not end as usual.")
    }
    return found
  }

  private static let endings: Set<String> = [
    "wav", "wave", "rf64", "w64", "aif", "aiff", "aifc", "caf", "flac", "ogg", "oga", "opus", "mp3",
    "au", "snd",
  ]

  private static func collect(
    _ path: String, depth: Int, into found: inout [String]
  ) throws(SystemError) {
    guard let folder = opendir(path) else { throw .last }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) { name in
          name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    closedir(folder)
    let base = path.hasSuffix("/") ? path : path + "/"
    let visible = names.filter { !$0.hasPrefix(".") }.sorted().map { base + $0 }
    let folders = visible.filter(isFolder)
    found += visible.filter { endings.contains(Playlist.suffix(of: $0)) && !folders.contains($0) }
    // A link to a folder above would go on for ever.
    guard depth < 16 else { return }
    for inner in folders { try collect(inner, depth: depth + 1, into: &found) }
  }
}
