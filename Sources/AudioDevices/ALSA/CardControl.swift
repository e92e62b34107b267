import CALSA
import Glibc

/// The control device of a card, which knows what the card has; open until out of scope.
struct CardControl: ~Copyable {
  private let handle: OpaquePointer
  private let number: Int32

  /// Opens the control device of the card with this number.
  init(card number: Int32) throws(DeviceFailure) {
    var opened: OpaquePointer?
    let result = snd_ctl_open(&opened, "hw:\(number)", SND_CTL_NONBLOCK)
    guard result == 0, let opened else { throw Self.failure(number, code: result) }
    handle = opened
    self.number = number
  }

  deinit {
    snd_ctl_close(handle)
  }

  /// The card with all its devices, each looked at now.
  var description: CardDescription {
    get throws(DeviceFailure) {
      let info = try CardInfo(of: handle, card: number)
      let id = info.id
      return CardDescription(
        number: Int(number), id: id, name: info.name,
        devices: deviceNumbers.compactMap { device($0, cardID: id) })
    }
  }

  private var deviceNumbers: [Int32] {
    var numbers: [Int32] = []
    var device: Int32 = -1
    while snd_ctl_pcm_next_device(handle, &device) == 0, device >= 0 { numbers.append(device) }
    return numbers
  }

  private func device(_ device: Int32, cardID: String) -> DeviceDescription? {
    let name = "hw:CARD=\(cardID),DEV=\(device)"
    let capture = StreamInfo(of: handle, device: device, .capture)
    let playback = StreamInfo(of: handle, device: device, .playback)
    guard let title = capture?.title ?? playback?.title else { return nil }
    return DeviceDescription(
      name: name, title: title, capture: capture?.stream(of: name),
      playback: playback?.stream(of: name))
  }

  static func failure(_ number: Int32, code: Int32) -> DeviceFailure {
    guard code != -EACCES && code != -EPERM else {
      return DeviceFailure(
        .permissionDenied, "This user may not open card \(number).",
        hint: "Add the user to the group audio, then log in again.")
    }
    return DeviceFailure(
      .notFound, "Card \(number) cannot be asked what it has.",
      hint: "Plug it in again, or see what the kernel says with dmesg.")
  }
}

/// What a card says about itself.
private struct CardInfo {
  let id: String
  let name: String

  init(of control: OpaquePointer, card: Int32) throws(DeviceFailure) {
    var allocated: OpaquePointer?
    guard snd_ctl_card_info_malloc(&allocated) == 0, let info = allocated else {
      throw CardControl.failure(card, code: -ENOMEM)
    }
    defer { snd_ctl_card_info_free(info) }
    let result = snd_ctl_card_info(control, info)
    guard result == 0 else { throw CardControl.failure(card, code: result) }
    id = String(cString: snd_ctl_card_info_get_id(info))
    name = String(cString: snd_ctl_card_info_get_name(info))
  }
}

/// What a card says about one direction of a device.
private struct StreamInfo {
  let title: String
  private let direction: PCMDirection
  private let subdeviceCount: Int

  /// Nil where the device has no such direction.
  init?(of control: OpaquePointer, device: Int32, _ direction: PCMDirection) {
    var allocated: OpaquePointer?
    guard snd_pcm_info_malloc(&allocated) == 0, let info = allocated else { return nil }
    defer { snd_pcm_info_free(info) }
    snd_pcm_info_set_device(info, UInt32(device))
    snd_pcm_info_set_subdevice(info, 0)
    snd_pcm_info_set_stream(info, direction.stream)
    guard snd_ctl_pcm_info(control, info) == 0 else { return nil }
    title = String(cString: snd_pcm_info_get_name(info))
    subdeviceCount = Int(snd_pcm_info_get_subdevices_count(info))
    self.direction = direction
  }

  func stream(of name: String) -> StreamDescription {
    StreamDescription(subdeviceCount: subdeviceCount, state: state(of: name))
  }

  private func state(of name: String) -> StreamDescription.State {
    do throws(DeviceFailure) {
      return .free(try PCM(opening: name, direction).abilities())
    } catch {
      return error.kind == .busy
        ? .busy(BusyDevice.holder(of: name, direction)) : .failed(error)
    }
  }
}
