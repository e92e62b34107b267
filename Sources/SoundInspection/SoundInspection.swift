import AudioBasics
import AudioFiles
import AudioLevels
import RealtimeAudio

/// The levels, silence and images of audio, computed in one pass and with bounded memory.
public struct SoundInspection: Sendable {
  /// The number of frames.
  public private(set) var frames = 0
  /// The number of samples that were NaN or infinite, and are treated as silence.
  public private(set) var nonFiniteSamples = 0
  /// The peaks, loudness, clipping and DC offset.
  public private(set) var levels = ProgrammeLevels.nothing
  /// The silence at both ends and in pauses.
  public private(set) var silence = SilentFrames(lead: 0, tail: 0, total: 0)
  /// The waveform, if it was requested.
  public private(set) var waveform: WaveformColumns?
  /// The spectrogram, if it was requested and memory was sufficient.
  public private(set) var spectrogram: Spectrogram?

  /// The number of columns of an image.
  public static let columns = 1480
  /// The number of rows of a spectrogram, for all its channels together.
  public static let rows = 512
  /// The maximum number of channels that are drawn.
  public static let maximumDrawnChannels = 8

  private static let chunkFrames = 32768

  /// Reads all of `decoder`, and computes the levels and the requested images. `progress` is called
  /// with the number of frames read so far, and may throw to end the inspection. Throws the errors
  /// of reading and those of `progress`.
  public init(
    of decoder: any SoundDecoder, drawsWaveform: Bool = false, drawsSpectrogram: Bool = false,
    progress: (_ frames: Int) throws(FileFailure) -> Void = { _ in }
  ) throws(FileFailure) {
    let channels = decoder.channelCount
    let drawn = min(channels, Self.maximumDrawnChannels)
    var waveform =
      drawsWaveform
      ? WaveformColumns(
        width: Self.columns, frameCount: decoder.frameCount, channelCount: drawn) : nil
    let spectrogram = drawsSpectrogram ? try Self.spectrogram(of: decoder, drawn: drawn) : nil
    var loudness = LoudnessMeter(sampleRate: decoder.sampleRate, channelCount: channels)
    var silence = SilenceMeter(sampleRate: decoder.sampleRate)
    var buffer = SampleBuffer(frameCount: Self.chunkFrames, channelCount: channels)
    while true {
      let count = try decoder.read(into: &buffer, at: 0, frames: Self.chunkFrames)
      guard count > 0 else { break }
      nonFiniteSamples += buffer.silenceNonFinite(frames: count)
      loudness.add(buffer, frames: count)
      silence.add(buffer, frames: count)
      waveform?.add(buffer, frames: count)
      spectrogram?.add(&buffer, frames: count)
      frames += count
      try progress(frames)
    }
    levels = loudness.levels
    self.silence = silence.silence
    self.waveform = waveform
    self.spectrogram = spectrogram?.finish()
  }

  /// Creates the threads for a spectrogram of `drawn` channels; returns nil if memory is short.
  private static func spectrogram(
    of decoder: any SoundDecoder, drawn: Int
  ) throws(FileFailure) -> SpectrogramThreads? {
    let panels = drawn <= 1 ? 1 : drawn <= 2 ? 2 : drawn <= 4 ? 4 : 8
    do throws(ThreadFailure) {
      return try SpectrogramThreads(
        width: columns, frameCount: decoder.frameCount, rowCount: rows / panels, drawn: drawn,
        channelCount: decoder.channelCount, pieceFrames: chunkFrames)
    } catch {
      throw FileFailure(.readFailed, error.message, hint: "End other programs, then try again.")
    }
  }
}
