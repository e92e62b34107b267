import AudioBasics
import AudioSessions
import AudioSpectra
import Glibc
import RealtimeAudio

/// Calculates the spectrum of the frames that a player plays, to be drawn when they are audible.
final class SpectrumTap: PlayerTap, @unchecked Sendable {
  // @unchecked because only the decoding thread collects frames; a lock protects the spectra.
  /// The levels in dB, lowest band first, of the frames that begin with the player's frame `frame`.
  struct Spectrum: Sendable {
    let frame: Int
    let levels: [Double]
  }

  private static let frames = 2048
  private let bands: [Range<Int>]
  private let transform: FourierTransform
  private var window: [Float] = []
  private let spectra = MutexBox<[Spectrum]>([])

  /// Creates a tap for `bandCount` bands above 50 Hz of equal width in octaves. Nil if memory is
  /// insufficient.
  init?(bandCount: Int, sampleRate: Int) {
    guard let transform = FourierTransform(atLeast: Self.frames) else { return nil }
    let lowest = 50 * Double(transform.length) / Double(sampleRate)
    let octaves = log2(Double(transform.length / 2) / lowest)
    func bin(_ edge: Int) -> Int {
      Int(clamping: lowest * exp2(octaves * Double(edge) / Double(bandCount)))
    }
    bands = (0..<bandCount).map { bin($0)..<max(bin($0) + 1, bin($0 + 1)) }
    self.transform = transform
  }

  func process(_ buffer: inout SampleBuffer, frames: Int, at frame: Int) {
    for index in 0..<frames {
      window.append(buffer[index * buffer.channelCount])
      guard window.count == transform.length else { continue }
      let first = frame + index + 1 - transform.length
      let spectrum = Spectrum(frame: first, levels: levels())
      spectra.withLock { $0.append(spectrum) }
      window.removeAll(keepingCapacity: true)
    }
  }

  /// Returns the newest spectrum of the frames that were played before `frame`; nil if there is
  /// none.
  func spectrum(frame: Int) -> Spectrum? {
    spectra.withLock { spectra in
      let count = spectra.prefix { $0.frame <= frame }.count
      guard count > 0 else { return nil }
      spectra.removeFirst(count - 1)
      return spectra.first
    }
  }

  private func levels() -> [Double] {
    // A Hann window, so that a frequency between two bins does not spread over all bins.
    let turn = 2 * Double.pi / Double(transform.length)
    let shaped = window.enumerated().map { index, sample in
      sample * Float(0.5 - 0.5 * cos(turn * Double(index)))
    }
    let bins = transform.spectrum(of: shaped.span)
    // A full-scale sine gives a quarter of the length in its bin.
    let full = Float(transform.length) / 4
    return bands.map { band in
      let power = band.map { bins[min($0, bins.count - 1)].power }.max() ?? 0
      return Decibels.level(power.squareRoot() / full, floor: -90)
    }
  }
}
