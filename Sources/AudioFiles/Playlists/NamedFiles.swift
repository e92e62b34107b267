/// The files that a playlist names or a folder holds, in their order. What was taken out needs no memory
/// any more.
public struct NamedFiles: Sequence, IteratorProtocol, Sendable {
  /// What names that do not say where they are, are relative to.
  enum Base: Sendable {
    case folder(String)
    case address(WebAddress)
  }

  private var names: NameList
  private let base: Base

  init(_ names: NameList, in base: Base) {
    self.names = names
    self.base = base
  }

  /// How many there are.
  public var count: Int { names.count }
  /// Bytes of the names that were not taken out.
  public var byteCount: Int { names.byteCount }

  /// Takes out the path or address of the first one that is left; nil where none is.
  public mutating func next() -> String? {
    while let name = names.takeFirst() {
      if let located = located(name) { return located }
    }
    return nil
  }

  /// nil where a server names what is no address.
  private func located(_ name: String) -> String? {
    switch base {
    case .address(let address): return address.joined(to: name)
    case .folder(let folder):
      if let path = FileAddress.path(of: name) { return path }
      let isWhole =
        name.utf8.first == UInt8(ascii: "/") || Playlist.isAddress(name) || folder == "."
      return isWhole ? name : FileName.join(folder, name)
    }
  }
}
