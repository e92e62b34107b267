import CALSA
import Glibc

/// The control device of a card, which lists the card's devices; open until the value goes out of
/// scope.
struct CardControl: ~Copyable {
  private let handle: OpaquePointer
  private let number: Int32

  /// Opens the control device of the card with this number. Throws if it cannot be opened.
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

  /// The card with all its devices, each examined now.
  var description: CardDescription {
    get throws(DeviceFailure) {
      let info = try CardInfo(of: handle, card: number)
      let id = info.id
      return CardDescription(
        number: Int(number), id: id, name: info.name,
        devices: devices(cardID: id).map { device in
          DeviceDescription(
            name: device.name, title: device.title,
            capture: device.capture?.stream(of: device.name),
            playback: device.playback?.stream(of: device.name))
        })
    }
  }

  /// The devices with their names. None of them is opened.
  var candidates: [DeviceCandidate] {
    get throws(DeviceFailure) {
      let info = try CardInfo(of: handle, card: number)
      return devices(cardID: info.id).map {
        DeviceCandidate(
          name: $0.name, title: $0.title, card: info.id, cardTitle: info.name,
          canCapture: $0.capture != nil, canPlay: $0.playback != nil)
      }
    }
  }

  private typealias Device = (
    name: String, title: String, capture: PCMStreamInfo?, playback: PCMStreamInfo?
  )

  /// Returns the devices that the card reports, with the names that open them.
  private func devices(cardID: String) -> [Device] {
    var found: [Device] = []
    var device: Int32 = -1
    while snd_ctl_pcm_next_device(handle, &device) == 0, device >= 0 {
      let capture = PCMStreamInfo(of: handle, device: device, .capture)
      let playback = PCMStreamInfo(of: handle, device: device, .playback)
      guard let title = capture?.title ?? playback?.title else { continue }
      found.append(("hw:CARD=\(cardID),DEV=\(device)", title, capture, playback))
    }
    return found
  }

  static func failure(_ number: Int32, code: Int32) -> DeviceFailure {
    guard code != -EACCES && code != -EPERM else {
      return .denied("card \(number)")
    }
    return DeviceFailure(
      .notFound, "Card \(number) does not report its devices.",
      hint: "Plug the card in again, or read the kernel's messages with dmesg.")
  }
}

/// The id and the name of a card, as it reports them.
private struct CardInfo {
  let id: String
  let name: String

  init(of control: OpaquePointer, card: Int32) throws(DeviceFailure) {
    let info = try ALSAMemory(snd_ctl_card_info_malloc, snd_ctl_card_info_free)
    let result = snd_ctl_card_info(control, info.pointer)
    guard result == 0 else { throw CardControl.failure(card, code: result) }
    id = String(cString: snd_ctl_card_info_get_id(info.pointer))
    name = String(cString: snd_ctl_card_info_get_name(info.pointer))
  }
}

/// The title and the subdevice count of one direction of a device, as its card reports them.
private struct PCMStreamInfo {
  let title: String
  private let direction: PCMDirection
  private let subdeviceCount: Int

  /// Reads the information. Returns nil if the device has no such direction.
  init?(of control: OpaquePointer, device: Int32, _ direction: PCMDirection) {
    guard let memory = try? ALSAMemory(snd_pcm_info_malloc, snd_pcm_info_free) else { return nil }
    let info = memory.pointer
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
