import AudioBasics
import AudioFiles

/// Whether a level is sensible to record at.
///
/// A voice or an instrument should peak between -18 and -6 dBFS: EBU R 68 aligns at -18 dBFS, which
/// leaves headroom for what comes louder than what was tried.
struct GainVerdict {
  /// One word for it.
  let name: String
  /// What to say to whoever turns the knob.
  let sentence: String

  /// The verdict on what was heard before the take.
  init(_ levels: ProgrammeLevels) {
    let peak = Decibels.level(levels.samplePeaks.max() ?? 0)
    let shown = peak <= -200 ? "silence" : "\(peak.shown(1)) dBFS at the loudest"
    let loudness = levels.integratedLUFS.map { ", \($0.shown(1)) LUFS" } ?? ""
    let heard = "The level check heard \(shown)\(loudness): "
    let clips = levels.clippedSamples.reduce(0, +)
    if clips > 0 || peak > -0.1 {
      name = "clipping"
      sentence = heard + "it clips. Lower the input gain by at least 12 dB."
    } else if peak <= -70 {
      name = "silent"
      sentence = heard + "nothing is heard. Check the cable, the input and its mute switch."
    } else if peak < -24 {
      name = "tooQuiet"
      sentence = heard + "too quiet. Raise the input gain by about \(Int(clamping: -12 - peak)) dB."
    } else if peak > -6 {
      name = "tooLoud"
      sentence =
        heard + "little room is left. Lower the input gain by about \(Int(clamping: peak + 12)) dB."
    } else if let offset = levels.offsets.map(abs).max(), offset > 0.01 {
      name = "offset"
      sentence = heard + "a good level, but the input has a DC offset. Say --high-pass 20."
    } else {
      name = "good"
      sentence = heard + "a good level."
    }
  }
}
