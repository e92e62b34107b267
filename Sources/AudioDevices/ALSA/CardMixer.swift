import CALSA
import Glibc

/// The simple mixer controls of a card, or of a control device that replaces one; open until the
/// value goes out of scope.
struct CardMixer: ~Copyable {
  private let handle: OpaquePointer

  /// Opens the mixer of the control device `name`, such as `hw:CARD=USB` or `default`. Throws if
  /// there is no such mixer.
  init(opening name: String) throws(DeviceFailure) {
    ALSALibrary.prepare()
    var opened: OpaquePointer?
    guard snd_mixer_open(&opened, 0) == 0, let opened else {
      throw Self.failure(name, code: -ENOMEM)
    }
    var result = snd_mixer_attach(opened, name)
    if result == 0 { result = snd_mixer_selem_register(opened, nil, nil) }
    if result == 0 { result = snd_mixer_load(opened) }
    guard result == 0 else {
      snd_mixer_close(opened)
      throw Self.failure(name, code: result)
    }
    handle = opened
  }

  deinit {
    snd_mixer_close(handle)
  }

  /// Returns the controls that are adjustable in this direction, in the card's order.
  func elements(_ direction: PCMDirection) -> [MixerElement] {
    var found: [MixerElement] = []
    var next = snd_mixer_first_elem(handle)
    while let element = next {
      let control = MixerElement(element: element, isCapture: direction == .capture)
      if control.hasVolume || control.hasSwitch { found.append(control) }
      next = snd_mixer_elem_next(element)
    }
    return found
  }

  private static func failure(_ name: String, code: Int32) -> DeviceFailure {
    guard code != -EACCES && code != -EPERM else {
      return .denied("the mixer of \(name)")
    }
    return DeviceFailure(
      .notFound, "The device \(name) has no mixer.",
      hint: "Set the volume on the device itself, or name a card, such as hw:CARD=USB.")
  }
}

/// One control in one direction, valid as long as its mixer is open.
struct MixerElement {
  let element: OpaquePointer
  let isCapture: Bool

  var name: String { String(cString: snd_mixer_selem_get_name(element)) }

  var index: Int { Int(snd_mixer_selem_get_index(element)) }

  /// Returns the one of alsa-lib's two functions that applies to this direction.
  private func pick<Function>(_ capture: Function, _ playback: Function) -> Function {
    isCapture ? capture : playback
  }

  var hasVolume: Bool {
    pick(snd_mixer_selem_has_capture_volume, snd_mixer_selem_has_playback_volume)(element) != 0
  }

  var hasSwitch: Bool {
    pick(snd_mixer_selem_has_capture_switch, snd_mixer_selem_has_playback_switch)(element) != 0
  }

  /// The channels of the control.
  var channels: [snd_mixer_selem_channel_id_t] {
    let isThere = pick(snd_mixer_selem_has_capture_channel, snd_mixer_selem_has_playback_channel)
    return (0...SND_MIXER_SCHN_LAST.rawValue).map { snd_mixer_selem_channel_id_t(rawValue: $0) }
      .filter { isThere(element, $0) != 0 }
  }

  /// The lowest and highest volume in the card's units; nil if the volume is not adjustable.
  var range: ClosedRange<Int>? {
    let query = pick(
      snd_mixer_selem_get_capture_volume_range, snd_mixer_selem_get_playback_volume_range)
    var (lowest, highest) = (0, 0)
    let result = query(element, &lowest, &highest)
    return result == 0 && lowest < highest ? lowest...highest : nil
  }

  /// The volume of each channel in the card's units.
  var volumes: [Int] {
    let query = pick(snd_mixer_selem_get_capture_volume, snd_mixer_selem_get_playback_volume)
    return channels.map { channel in
      var value = 0
      _ = query(element, channel, &value)
      return value
    }
  }

  /// Sets the volume of each channel. Returns false if the card refuses.
  func set(_ volumes: [Int]) -> Bool {
    let set = pick(snd_mixer_selem_set_capture_volume, snd_mixer_selem_set_playback_volume)
    return zip(channels, volumes).allSatisfy { set(element, $0, $1) == 0 }
  }

  /// The switch of each channel.
  var switches: [Bool] {
    let query = pick(snd_mixer_selem_get_capture_switch, snd_mixer_selem_get_playback_switch)
    return channels.map { channel in
      var isOn: Int32 = 1
      _ = query(element, channel, &isOn)
      return isOn != 0
    }
  }

  /// Returns the volume `value` in dB; nil if the card has no dB scale.
  func decibels(of value: Int) -> Double? {
    let query = pick(snd_mixer_selem_ask_capture_vol_dB, snd_mixer_selem_ask_playback_vol_dB)
    var hundredths = 0
    return query(element, value, &hundredths) == 0 ? Double(hundredths) / 100 : nil
  }

  /// Returns the volume nearest to `decibels`; nil if the card has no dB scale.
  func value(ofDecibels decibels: Double) -> Int? {
    let query = pick(snd_mixer_selem_ask_capture_dB_vol, snd_mixer_selem_ask_playback_dB_vol)
    var value = 0
    return query(element, Int(clamping: (decibels * 100).rounded()), 0, &value) == 0 ? value : nil
  }

  /// The current setting of the control.
  var control: MixerControl {
    let range = hasVolume ? range : nil
    let volumes = range == nil ? [] : volumes
    let loudest = volumes.max()
    return MixerControl(
      name: index > 0 ? "\(name),\(index)" : name, isCapture: isCapture,
      volume: loudest.flatMap { value in
        range.map {
          let (lowest, highest) = (Double($0.lowerBound), Double($0.upperBound))
          return (Double(value) - lowest) / (highest - lowest)
        }
      },
      decibels: loudest.flatMap(decibels), isOn: hasSwitch ? switches.contains(true) : nil)
  }
}
