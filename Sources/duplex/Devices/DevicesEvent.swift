import AudioDevices

extension Event {
  /// Returns the summary with the list of devices. It is the only event of the command without
  /// `--watch`.
  static func devices(_ list: DeviceList) -> Event {
    .summary([
      "command": "devices", "cards": list.cards.map(\.fields), "defaultCard": list.cardOfDefault,
      "defined": list.defined.map {
        ["name": $0.name, "title": $0.title, "default": $0.name == "default"] as Fields
      },
      "pcms": list.named.map {
        [
          "name": $0.name, "comment": $0.comment, "capture": $0.canCapture,
          "playback": $0.canPlay,
        ] as Fields
      },
    ])
  }
}

extension CardDescription {
  fileprivate var fields: Fields {
    [
      "number": number, "id": id, "name": name, "message": failure?.message,
      "devices": devices.map {
        [
          "name": $0.name, "title": $0.title, "capture": $0.capture?.fields,
          "playback": $0.playback?.fields,
        ] as Fields
      },
      "mixer": controls.map(\.fields),
    ]
  }
}

extension MixerControl {
  fileprivate var fields: Fields {
    [
      "name": name, "direction": isCapture ? "capture" : "playback",
      "percent": volume.map { (100 * $0).digits(1) }, "volumeDB": decibels?.digits(2), "on": isOn,
    ]
  }
}

extension StreamDescription {
  fileprivate var fields: Fields {
    func range(_ range: ClosedRange<Int>) -> Fields {
      ["minimum": range.lowerBound, "maximum": range.upperBound]
    }
    let head: Fields = ["subdevices": subdeviceCount]
    switch state {
    case .busy(let holder):
      return head + ["busy": true, "holder": holder?.name, "holderProcess": holder?.process]
    case .failed(let failure): return head + ["busy": false, "message": failure.message]
    case .free(let abilities):
      return head + [
        "busy": false, "formats": abilities.formats, "sampleRates": range(abilities.sampleRates),
        "channels": range(abilities.channelCounts),
        "periodFrames": range(abilities.periodFrames),
        "bufferFrames": range(abilities.bufferFrames),
      ]
    }
  }
}
