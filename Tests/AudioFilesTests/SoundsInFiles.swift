import AudioBasics
import AudioFiles

/// Returns integers of `bits` bits, taken with an odd step that reaches each of them within a
/// period, as fractions of full scale.
func integers(bits: Int, frames: Int, channels: Int) -> SampleBuffer {
  var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
  let half = 1 << (bits - 1)
  for index in 0..<buffer.sampleCount {
    let value = (index &* 12_345_677 &+ half) & (2 * half - 1)
    buffer[index] = Float(value - half) / Float(half)
  }
  return buffer
}

/// Writes all of `buffer` to a file.
func save(
  _ buffer: borrowing SampleBuffer, to path: String, _ fileFormat: FileFormat,
  _ sampleFormat: FileSampleFormat, sampleRate: Int = 48000, speakers: [Speaker]? = nil
) throws {
  var writer = try SoundFileWriter(
    path: path, fileFormat: fileFormat, sampleFormat: sampleFormat, sampleRate: sampleRate,
    channelCount: buffer.channelCount, overwrite: false, speakers: speakers)
  try writer.write(buffer, frames: buffer.frameCount)
  try writer.finish()
}

/// Returns all samples of a file.
func load(_ path: String) throws -> [Float] {
  let decoder = try Decoding.decoder(forPath: path)
  var buffer = SampleBuffer(frameCount: 777, channelCount: decoder.channelCount)
  var samples: [Float] = []
  while true {
    let count = try decoder.read(into: &buffer, at: 0, frames: 777)
    if count == 0 { return samples }
    for index in 0..<count * decoder.channelCount { samples.append(buffer[index]) }
  }
}

func samples(of reader: inout SoundFileReader) throws -> [Float] {
  var buffer = SampleBuffer(frameCount: 777, channelCount: reader.channelCount)
  var samples: [Float] = []
  while true {
    let count = try reader.read(into: &buffer)
    if count == 0 { return samples }
    for index in 0..<count * reader.channelCount { samples.append(buffer[index]) }
  }
}

func list(_ buffer: borrowing SampleBuffer) -> [Float] {
  (0..<buffer.sampleCount).map { buffer[$0] }
}

/// Returns the failure that `work` throws.
func failure(_ work: () throws -> Void) -> FileFailure? {
  do {
    try work()
    return nil
  } catch {
    return error as? FileFailure
  }
}
