import Glibc

/// The folder in which a file will be created. Any thread but the audio thread.
package enum OutputFolder {
  /// Throws `.cannotCreate` if `path` is a folder itself, which no file replaces.
  package static func refuseFolder(at path: String) throws(FileFailure) {
    guard FileStatus(of: path)?.isFolder != true, path.utf8.last != UInt8(ascii: "/") else {
      throw .creating(path, SystemError(number: EISDIR))
    }
  }

  /// Throws `.cannotCreate` if `path` is a link to a file that does not exist, and
  /// `.permissionDenied` if that cannot be found out. No file replaces such a link.
  package static func refuseDanglingLink(at path: String) throws(FileFailure) {
    _ = try mapSystemError(try FileSystem.targetStatus(of: path)) { .creating(path, $0) }
  }

  /// Throws `.cannotCreate` or `.permissionDenied` if no file can be created in the folder of
  /// `path`.
  package static func check(for path: String) throws(FileFailure) {
    let folder = FileName.folder(of: path)
    do throws(SystemError) {
      try FileSystem.checkName(path)
      guard FileStatus(try FileSystem.status(of: folder)).isFolder else {
        throw SystemError(number: ENOTDIR)
      }
      try FileSystem.checkAccess(folder, W_OK | X_OK)
    } catch {
      throw .creating(path, error)
    }
  }

  /// Throws `.cannotCreate` or `.permissionDenied` if the existing file `path` may not be written.
  package static func checkFile(at path: String) throws(FileFailure) {
    try mapSystemError(try FileSystem.checkAccess(path, W_OK)) { .creating(path, $0) }
  }

  /// Returns the paths that the file `path` may get if its own folder cannot take it: in the
  /// folders that contain this folder, the nearest first, and in the user's home. Shared folders
  /// such as /tmp are not among them unless the path leads through them, because others could read
  /// the file there.
  package static func substitutes(for path: String) -> [String] {
    var folders: [String] = []
    var folder = FileName.folder(of: path)
    // What is above "..", the path does not tell.
    while folder != ".", folder != "/", FileName.last(of: folder) != ".." {
      folder = FileName.folder(of: folder)
      if folder != "/" { folders.append(folder) }
    }
    if let home = FileName.variable("HOME"), home.hasPrefix("/"), !folders.contains(home) {
      folders.append(home)
    }
    return folders.map { FileName.join($0, String(FileName.last(of: path))) }
  }
}
