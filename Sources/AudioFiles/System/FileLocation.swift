/// The target of a path: the existing file, or the file that would be created. Paths of the same
/// file are equal. Any thread but the audio thread.
package struct FileLocation: Hashable {
  private let file: FileIdentity?
  /// The folder and the name in it, if there is no file; without a folder, `name` is the whole
  /// path.
  private let folder: FileIdentity?
  private let name: [UInt8]

  package init(of path: String) {
    file = FileIdentity(of: path)
    folder = file == nil ? FileIdentity(of: FileName.folder(of: path)) : nil
    name = file != nil ? [] : Array(folder == nil ? path.utf8[...] : FileName.last(of: path).utf8)
  }
}
