import AudioBasics
import AudioDevices
import AudioFiles
import RealtimeAudio

// The remedies of the library's failures, described with the options of the tool.

extension DeviceFailure {
  /// The remedy in one sentence, with the option to use.
  var optionHint: String {
    switch remedy {
    case nil: hint
    case .useSoundServer:
      "Stop that program's sound on this card, or end the program; --device default uses a sound server."
    case .endHolder: "End that program, or choose another device with --device."
    case .startServer: "Start the server, or choose another device with --device."
    case .chooseDevice: "`duplex devices` lists the devices; --device sim needs no sound card."
    case .chooseSettings: "Try other settings; `duplex devices -v` shows what each device can do."
    case .chooseSecondaryOutput: "Use a device that plays in real time for --also-play."
    case .removeSecondaryOutputs: "Use fewer --also-play, and give something to play."
    case .applyGain: "Set the volume on the device itself, or use --gain."
    case .enlargeBuffer: "Use more --periods or less --headroom."
    case .enlargePeriod: Self.enlargePeriodHint
    case .shrinkPeriod(let frames):
      "The buffer holds \(frames.counted("frame")): use a smaller --period-size or --headroom."
    case .choosePeriod(let range):
      "Use --period-size \(range.boundsText) (frames)."
    case .chooseChannels(let range, let isCapture):
      "The device has \(Self.text(range)): choose other channels with "
        + (isCapture ? "--capture-channels." : "--playback-channels.")
    case .chooseChannelCount(let range, let device):
      "The device has \(Self.text(range)): use --channels, or the device plug\(device)."
    case .repeatChannel(let range):
      "The device has \(Self.text(range)): --capture-channels 1,1 captures one channel twice."
    case .chooseRate: "Use another --rate."
    }
  }

  /// What helps if the audio thread or the device is too slow for the period.
  static let enlargePeriodHint =
    "Use a larger --period-size or --headroom, or find both with `duplex tune`."

  private static func text(_ range: ClosedRange<Int>) -> String {
    range.count == 1
      ? range.upperBound.counted("channel")
      : "\(range.boundsText) channels"
  }
}

extension FileFailure {
  /// The remedy in one sentence, with the option to use.
  var optionHint: String {
    switch remedy {
    case nil, .nextFile: hint
    case .sendSound: "Send a sound file to standard input: duplex play - <song.wav"
    case .describeSamples:
      "Send WAV, FLAC, MP3 or Ogg; for samples without a header: duplex play --raw FORMAT,RATE,CHANNELS -"
    case .describeLostHeader:
      "If the file was a WAV file, give --rate, --channels and --sample-format."
    case .overwrite: "Choose another name, or replace the file with --overwrite."
    case .repairInPlace: "Choose another name, or repair the file itself with --in-place."
    case .repairCopy: "Leave --in-place out: a copy is repaired."
    case .makeRoom: "Free some disk space, choose another disk with -o, or use --in-place."
    case .shortenRing: "Use a shorter --ring, or end other programs."
    case .slowDown: "Use a higher --rate or a lower --speed."
    }
  }
}

extension GrantedPriority {
  /// The warning and its remedy in one sentence; nil if the requested priority was granted.
  var optionWarning: String? {
    guard let wantedNumber else { return warning }
    return "Realtime priority \(number) was granted instead of \(wantedNumber): raise this user's "
      + "rtprio in /etc/security/limits.d, or use a lower --realtime-priority."
  }
}
