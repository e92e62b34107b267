import CSndFile
import Glibc

/// Bytes from anywhere as a file for libsndfile.
final class VirtualFile {
  let bytes: BufferedBytes
  /// Where in the bytes the file begins.
  private let start: Int
  private let byteCount: Int
  /// What libsndfile is told before it looks: nothing, or what bare samples are like.
  private let expectation: SF_INFO

  /// Where there is no end, libsndfile is told of one that nobody reaches.
  private static let endless = 1 << 52

  /// The file that begins at `start`.
  init(_ bytes: BufferedBytes, start: Int = 0, expectation: SF_INFO = SF_INFO()) {
    self.expectation = expectation
    self.bytes = bytes
    self.start = start
    byteCount = (bytes.byteCount ?? Self.endless) - start
    bytes.position = start
  }

  /// Opens it, from its beginning; `info` says what was found. Throws `.unusableContents`, and what
  /// the bytes throw.
  func open(_ info: inout SF_INFO) throws(FileFailure) -> SoundFileHandle {
    bytes.recover()
    bytes.position = start
    info = expectation
    do throws(SoundFileRefusal) {
      return try SoundFileHandle(self, info: &info)
    } catch {
      try bytes.checkOpening()
      bytes.position = start
      let beginning = UInt32((try? bytes.peek(4).number(at: 0)) ?? 0)
      throw SoundSource.failure(
        bytes.name, error, beginning: SoundSource.kind(ofFile: beginning))
    }
  }

  private func seek(to offset: Int, _ origin: Int32) -> Int {
    let origin =
      switch origin {
      case SEEK_SET: 0
      case SEEK_CUR: bytes.position - start
      default: byteCount
      }
    guard let target = origin.place(movedBy: offset) else { return -1 }
    bytes.position = start + target
    return target
  }

  /// What libsndfile calls, with an unretained reference to a `VirtualFile` as its own argument.
  static var callbacks: SF_VIRTUAL_IO {
    SF_VIRTUAL_IO(
      get_filelen: { sf_count_t(VirtualFile.of($0)?.byteCount ?? 0) },
      seek: { offset, origin, owner in
        sf_count_t(VirtualFile.of(owner)?.seek(to: Int(offset), origin) ?? -1)
      },
      read: { memory, count, owner in
        let bytes = VirtualFile.of(owner)?.bytes
        return sf_count_t(bytes?.readForCallback(memory, Int(count), isWhole: true) ?? 0)
      },
      write: { _, _, _ in 0 },
      tell: { owner in
        guard let file = VirtualFile.of(owner) else { return -1 }
        return sf_count_t(file.bytes.position - file.start)
      })
  }

  private static func of(_ owner: UnsafeMutableRawPointer?) -> VirtualFile? {
    owner.map { Unmanaged<VirtualFile>.fromOpaque($0).takeUnretainedValue() }
  }
}
