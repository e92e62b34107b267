import AudioBasics
import AudioFiles
import Glibc
import TemporaryFolders
import Testing

/// Returns a sound without repetitions: noise and a gliding tone.
func glide(frames: Int, channels: Int, seed: UInt32 = 1) -> SampleBuffer {
  var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
  var noise = seed
  var phase: Float = 0
  for frame in 0..<frames {
    phase += 0.03 + 0.02 * sinf(Float(frame) * 1e-4)
    for channel in 0..<channels {
      noise = noise &* 1_664_525 &+ 1_013_904_223
      let hiss = Float(noise >> 8) / 8_388_608 - 1
      buffer[frame * channels + channel] = 0.4 * sinf(phase + Float(channel)) + 0.1 * hiss
    }
  }
  return buffer
}

/// Runs a program and waits for its end. Returns whether it succeeded.
func run(_ program: String, _ arguments: [String]) -> Bool {
  var process: pid_t = 0
  var strings = ([program] + arguments).map { strdup($0) } + [nil]
  defer { for string in strings { free(string) } }
  guard posix_spawnp(&process, program, nil, nil, &strings, environ) == 0 else { return false }
  var status: Int32 = 0
  return waitpid(process, &status, 0) == process && status == 0
}

/// Returns all samples of `decoder` from its position on, read in pieces of `piece` frames.
func decode(_ decoder: any SoundDecoder, piece: Int = 777) throws -> [Float] {
  var samples: [Float] = []
  var buffer = SampleBuffer(frameCount: piece, channelCount: decoder.channelCount)
  while true {
    let count = try decoder.read(into: &buffer, at: 0, frames: piece)
    if count == 0 { return samples }
    for index in 0..<count * decoder.channelCount { samples.append(buffer[index]) }
  }
}

/// Returns the largest difference between the samples of `decoder` at `frame` and those of a
/// sequential read.
func difference(
  _ decoder: any SoundDecoder, at frame: Int, frames: Int, from samples: [Float]
) throws -> Float {
  try decoder.seek(toFrame: frame)
  guard decoder.position == frame else { return .infinity }
  let channels = decoder.channelCount
  let expected = min(frames, samples.count / channels - frame)
  var buffer = SampleBuffer(frameCount: frames, channelCount: channels)
  var done = 0
  while done < expected {
    let count = try decoder.read(into: &buffer, at: done, frames: frames - done)
    if count == 0 { return .infinity }
    done += count
  }
  var worst: Float = 0
  for index in 0..<expected * channels {
    worst = max(worst, abs(buffer[index] - samples[frame * channels + index]))
  }
  if frame + expected == samples.count / channels, done > expected { return .infinity }
  return worst
}

/// Returns the samples of `decoder` until it ends or fails, and the failure.
func decodeAll(_ decoder: any SoundDecoder) -> (samples: [Float], trouble: FileFailure?) {
  var samples: [Float] = []
  var buffer = SampleBuffer(frameCount: 777, channelCount: decoder.channelCount)
  var isOver = false
  let trouble = failure {
    while !isOver {
      let count = try decoder.read(into: &buffer, at: 0, frames: 777)
      isOver = count == 0
      for index in 0..<count * decoder.channelCount { samples.append(buffer[index]) }
    }
  }
  return (samples, trouble)
}

/// Returns the MP3 file that `lame` makes of a sound.
func lame(
  _ encoding: [String], seconds: Int = 10, rate: Int = 44100, channels: Int = 2
) throws -> [UInt8] {
  let folder = TemporaryFolder()
  let sound = glide(frames: seconds * rate, channels: channels)
  try save(sound, to: folder("sound.wav"), .wav, .s16, sampleRate: rate)
  try #require(run("lame", ["--quiet"] + encoding + [folder("sound.wav"), folder("sound.mp3")]))
  return folder.bytes(of: "sound.mp3")
}
