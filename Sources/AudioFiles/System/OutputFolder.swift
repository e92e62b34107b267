import Glibc

/// The folder that a file is to be made in.
public enum OutputFolder {
  /// Throws `.cannotCreate` or `.permissionDenied` where no file can be made beside `path`.
  public static func check(for path: String) throws(FileFailure) {
    let folder = FileName.folder(of: path)
    do throws(SystemError) {
      guard FileStatus(try FileSystem.status(of: folder)).isFolder else {
        throw SystemError(number: ENOTDIR)
      }
      try FileSystem.checkAccess(folder, W_OK | X_OK)
    } catch {
      throw .creating(path, error)
    }
  }

  /// Whether both paths name one file, or would.
  public static func isSame(_ one: String, _ other: String) -> Bool {
    if let first = FileIdentity(of: one), let second = FileIdentity(of: other) {
      return first == second
    }
    let folders = [one, other].map { FileIdentity(of: FileName.folder(of: $0)) }
    return FileName.last(of: one).utf8.elementsEqual(FileName.last(of: other).utf8)
      && folders[0] == folders[1]
  }
}
