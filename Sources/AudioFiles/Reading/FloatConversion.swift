import AudioBasics
import CSndFile

/// The reading of a file's samples from libsndfile as 32-bit floats in WAV's channel order. Samples
/// of 16 bits and those of FLAC files are read as integers and converted here, because libsndfile
/// takes longer.
struct FloatConversion: ~Copyable {
  private let order: ChannelOrder
  private let channelCount: Int
  /// A buffer for 16-bit samples. It has no frames if the samples are read in another format.
  private let shorts: SampleBuffer
  private let readsIntegers: Bool

  /// Creates the conversion for a file of `format` with the properties `info`.
  init(of info: SF_INFO, in format: FileFormat?) {
    channelCount = Int(info.channels)
    order = ChannelOrder(format, channelCount: Int(info.channels))
    readsIntegers = format == .flac
    let isShort = Int(info.format) & SF_FORMAT_SUBMASK == SF_FORMAT_PCM_16
    shorts = SampleBuffer(
      frameCount: isShort && format != .flac ? 512 : 0, channelCount: Int(info.channels))
  }

  /// Reads the next `frames` frames into the memory at `target`. Returns the number of frames read.
  func read(
    _ handle: borrowing SoundFileHandle, into target: UnsafeMutablePointer<Float>, frames: Int
  ) -> Int {
    let count =
      if shorts.frameCount > 0 {
        readShorts(handle, into: target, frames: frames)
      } else if readsIntegers {
        readIntegers(handle, into: target, frames: frames)
      } else {
        max(0, Int(sf_readf_float(handle.pointer, target, sf_count_t(frames))))
      }
    order.sort(target, frames: count)
    return count
  }

  private func readShorts(
    _ handle: borrowing SoundFileHandle, into target: UnsafeMutablePointer<Float>, frames: Int
  ) -> Int {
    // Each float of the buffer has room for two 16-bit samples.
    let maximum = 2 * shorts.frameCount
    let source = UnsafeMutableRawPointer(shorts.base)
      .bindMemory(to: Int16.self, capacity: maximum * channelCount)
    var done = 0
    while done < frames {
      let wanted = min(frames - done, maximum)
      let count = max(0, Int(sf_readf_short(handle.pointer, source, sf_count_t(wanted))))
      let samples = target + done * channelCount
      for index in 0..<count * channelCount { samples[index] = Float(source[index]) * (1 / 32768) }
      done += count
      if count < wanted { break }
    }
    return done
  }

  /// Reads integers and converts them in place, which is faster than the conversion to floats in
  /// libsndfile.
  private func readIntegers(
    _ handle: borrowing SoundFileHandle, into target: UnsafeMutablePointer<Float>, frames: Int
  ) -> Int {
    let memory = UnsafeMutableRawPointer(target)
    let integers = memory.bindMemory(to: Int32.self, capacity: frames * channelCount)
    let count = max(0, Int(sf_readf_int(handle.pointer, integers, sf_count_t(frames))))
    let byteCount = 4 * count * channelCount
    var place = 0
    func convertFour() {
      let four = UnsafeRawPointer(memory + place).loadUnaligned(as: SIMD4<Int32>.self)
      memory.storeBytes(of: SIMD4<Float>(four) * 0x1p-31, toByteOffset: place, as: SIMD4.self)
      place &+= 16
    }
    while place &+ 64 <= byteCount {
      convertFour()
      convertFour()
      convertFour()
      convertFour()
    }
    while place < byteCount {
      let integer = memory.load(fromByteOffset: place, as: Int32.self)
      memory.storeBytes(of: Float(integer) * 0x1p-31, toByteOffset: place, as: Float.self)
      place &+= 4
    }
    _ = memory.bindMemory(to: Float.self, capacity: frames * channelCount)
    return count
  }
}
