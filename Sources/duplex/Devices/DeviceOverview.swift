import AudioDevices

/// The devices as a short table: a line for each, which begins with the name to type.
struct DeviceOverview {
  let lines: [String]

  /// The message if there is no device.
  static let noDevice =
    "No sound card. Without a card, use the simulated device: --device sim."

  init(_ list: DeviceList) {
    var rows = [["NAME", "DEVICE", "INPUTS", "OUTPUTS", ""]]
    for device in list.defined {
      rows.append([
        device.name, device.title, "", "", device.name == "default" ? "the default" : "",
      ])
    }
    var failures: [String] = []
    for card in list.cards {
      if let failure = card.failure { failures.append(failure.message) }
      for device in card.devices {
        let isDefault =
          card.number == list.cardOfDefault && device == card.devices.first
        rows.append(Self.row(card, device, isDefault: isDefault))
      }
    }
    guard rows.count > 1 else {
      lines = failures + (list.cards.isEmpty ? [Self.noDevice] : [])
      return
    }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    let shown = rows.map { row in
      let cells = row.enumerated().map { column, cell in
        column < 4 ? cell.padded(to: widths[column]) : cell
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
    let hasDevice = !list.cards.isEmpty || list.defined.contains { $0.name == "default" }
    let isDefined = !list.defined.isEmpty
    lines =
      (hasDevice ? [] : [Self.noDevice]) + shown + failures
      + (isDefined
        ? [
          "Devices without numbers are defined by ALSA's configuration; they have the channels of the"
            + " device behind them."
        ] : [])
      + ["A part of a name is enough if only one device matches; -v shows more about each."]
  }

  private static func row(_ card: CardDescription, _ device: DeviceDescription, isDefault: Bool)
    -> [String]
  {
    let title = [card.name, device.title].filter { !$0.isEmpty }.joined(separator: ", ")
    var remarks = isDefault ? ["the default"] : []
    for (noun, stream) in [("input", device.capture), ("output", device.playback)] {
      switch stream?.state {
      case .busy(let holder):
        remarks.append("\(noun) in use" + (holder.map { " by \($0)" } ?? ""))
      case .failed(let failure): remarks.append(failure.message)
      case .free, nil: break
      }
    }
    return [
      device.name, title, count(device.capture), count(device.playback),
      remarks.joined(separator: "; "),
    ]
  }

  private static func count(_ stream: StreamDescription?) -> String {
    guard let stream else { return "-" }
    guard case .free(let abilities) = stream.state else { return "?" }
    return "\(abilities.channelCounts.upperBound)"
  }
}

extension DeviceList {
  /// The number of the default card; nil if ALSA's configuration defines a device named `default`.
  var cardOfDefault: Int? {
    defined.contains { $0.name == "default" } ? nil : defaultCard
  }
}
