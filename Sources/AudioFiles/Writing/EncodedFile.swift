import CSndFile
import Glibc

/// A file being written through libsndfile: the compressed formats, and containers of others.
struct EncodedFile: ~Copyable {
  private let handle: SoundFileHandle
  private let fileFormat: FileFormat
  private let sampleFormat: FileSampleFormat
  private let channelCount: Int
  private let order: ChannelOrder
  /// Frames written.
  private(set) var frameCount = 0

  /// Begins an empty file behind `descriptor`. `code` is libsndfile's for the two formats.
  init(
    _ descriptor: consuming FileDescriptor, fileFormat: FileFormat,
    sampleFormat: FileSampleFormat, code: Int32, sampleRate: Int, channelCount: Int
  ) throws(SoundFileRefusal) {
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channelCount)
    info.format = code
    handle = try SoundFileHandle(descriptor, mode: Int32(SFM_WRITE), info: &info)
    self.fileFormat = fileFormat
    self.sampleFormat = sampleFormat
    self.channelCount = channelCount
    order = ChannelOrder(fileFormat, channelCount: channelCount)
    // Transparent to nearly every ear: 190 to 260 kbit/s for stereo music.
    if fileFormat.isLossy {
      handle.set(Int(SFC_SET_VBR_ENCODING_QUALITY), fileFormat == .opus ? 0.35 : 0.8)
    }
  }

  /// Appends frames, changed to what the encoder takes in `scratch`, which has room for as many.
  mutating func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError) {
    let count = frames * channelCount
    errno = 0
    let written: Int
    if sampleFormat == .float {
      let floats = scratch.assumingMemoryBound(to: Float.self)
      // Infinity passes into a file of floats, but would break an encoder for good.
      let isGuarded = fileFormat.isLossy
      for index in 0..<count {
        let sample = numbered(samples[index])
        floats[index] = isGuarded ? min(max(sample, -8), 8) : sample
      }
      order.restore(floats, frames: frames)
      written = Int(sf_writef_float(handle.pointer, floats, sf_count_t(frames)))
    } else {
      let words = scratch.assumingMemoryBound(to: Int32.self)
      sampleFormat.widen(samples, count: count, into: words)
      written = Int(sf_writef_int(handle.pointer, words, sf_count_t(frames)))
    }
    let number = errno
    frameCount += max(0, written)
    guard written == frames else { throw SystemError(number: number == 0 ? EIO : number) }
  }

  /// Makes the header say what is there, where a reader depends on it.
  func refreshHeader() throws(SystemError) {
    switch fileFormat {
    case .aiff, .caf, .w64:
      errno = 0
      sf_command(handle.pointer, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
      guard errno == 0 else { throw .last }
    case .wav, .rf64, .raw, .flac, .ogg, .opus, .mp3:
      break
    }
  }

  /// Waits until all that was handed on is on the disk.
  func synchronize() throws(SystemError) {
    guard fdatasync(handle.descriptor) == 0 else { throw .last }
  }

  /// Completes and closes the file.
  consuming func close() throws(SystemError) {
    try handle.close()
  }
}
