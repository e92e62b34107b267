import AudioDevices
import AudioFiles
import RealtimeAudio

// What the library's failures say in general, said with the options of the tool.

extension DeviceFailure {
  /// One sentence that says what to do, and by which option.
  var optionHint: String {
    switch remedy {
    case nil: hint
    case .useSoundServer:
      "Stop what it plays or records there, or end it; --device default goes through a sound server."
    case .endHolder: "End the program that holds it, or name another device with --device."
    case .startServer: "Start it, or name another device with --device."
    case .chooseDevice: "List the devices with `duplex devices`, or try --device sim."
    case .chooseSettings: "Try other settings; `duplex devices` lists what each device can do."
    case .chooseSecondaryOutput: "Name a device that plays in real time with --also-play."
    case .removeSecondaryOutputs: "Name fewer with --also-play, and something to be played."
    case .applyGain: "Set it on the device itself, or with --gain."
    case .enlargeBuffer: "Ask for more periods with --periods, or less headroom with --headroom."
    case .enlargePeriod:
      "Ask for a larger --period-size or --headroom, or find both with `duplex tune`."
    case .shrinkPeriod(let frames):
      "It holds \(frames); ask for less with --period-size or --headroom."
    case .choosePeriod(let range):
      "It does \(range.lowerBound) to \(range.upperBound); ask with --period-size."
    case .chooseChannels(let range, let isCapture):
      "It has \(Self.text(range)); name others with "
        + (isCapture ? "--capture-channels." : "--playback-channels.")
    case .chooseChannelCount(let range, let device):
      "It has \(Self.text(range)); ask with --channels, or use plug\(device)."
    case .repeatChannel(let range):
      "It has \(Self.text(range)); --capture-channels 1,1 captures one of them twice."
    case .chooseRate: "Ask for another rate with --rate."
    }
  }

  private static func text(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.upperBound)" : "\(range.lowerBound) to \(range.upperBound)"
  }
}

extension FileFailure {
  /// One sentence that says what to do, and by which option.
  var optionHint: String {
    switch remedy {
    case nil: hint
    case .sendSound: "Send it a sound file: duplex play - <song.wav"
    case .describeSamples:
      "Send WAV, FLAC, MP3 or Ogg; bare samples: duplex play --raw FORMAT,RATE,CHANNELS -"
    case .describeLostHeader:
      "Say what it held, if it was a WAV file: --rate, --channels and --sample-format."
    case .overwrite: "Choose another name, or replace it with --overwrite."
    case .mendInPlace: "Choose another name, or use --in-place."
    case .mendCopy: "Leave --in-place out."
    case .makeRoom: "Make room, choose another disk with -o, or mend the file --in-place."
    case .shortenRing: "Ask for less with --ring, or end other programs."
    case .slowDown: "Ask for a higher --rate or a lower --speed."
    }
  }
}

extension GrantedPriority {
  /// One sentence that says what to do, and by which option, where less was given than asked.
  var optionWarning: String? {
    guard let wantedNumber else { return warning }
    return "Realtime priority \(number) was granted instead of \(wantedNumber): raise this user's "
      + "rtprio in /etc/security/limits.d, or ask for no more with --realtime-priority."
  }
}
