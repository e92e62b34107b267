import AudioBasics
import CALSA
import Glibc

/// The translation of ALSA's return codes into failures.
enum PCMFailure {
  /// Returns the failure to open a PCM; `messages` are those of alsa-lib about it.
  static func opening(
    _ name: String, _ direction: PCMDirection, code: Int32, messages: [String] = []
  ) -> DeviceFailure {
    if let failure = ALSAConfiguration.failure { return failure }
    switch -code {
    case EBUSY:
      let holder = BusyDevice.holder(of: name).map { " by \($0)" } ?? ""
      return DeviceFailure(
        .busy, "The \(direction.noun) \(name) is in use\(holder).",
        hint: "End the program that holds it, or choose another device.", remedy: .endHolder)
    case EMFILE, ENFILE:
      return DeviceFailure(
        .refused, "The \(direction.noun) \(name) cannot be opened: too many files are open.",
        hint: "Raise the limit with ulimit -n, or close other programs.")
    case EACCES, EPERM:
      return .denied("the \(direction.noun) \(name)")
    case ENOENT where DeviceNames.leadsToJACK(name):
      return DeviceFailure(
        .notFound, "The JACK server behind the \(direction.noun) \(name) does not run.",
        hint: "Start it, or choose another device.", remedy: .startServer)
    // The plugins of PulseAudio and PipeWire.
    case ECONNREFUSED, EHOSTDOWN:
      return DeviceFailure(
        .notFound,
        "The sound server behind the \(direction.noun) \(name) does not answer: it does not run, or "
          + "runs for another user.",
        hint: "Start it, or choose another device.", remedy: .startServer)
    case ENOENT, ENODEV, ENXIO, ENOTTY:
      let types = DeviceNames.types(of: name)
      guard let type = types.last else { return absent(name, direction) }
      if let reported = reported(name, direction, type, messages) { return reported }
      // Without a reason from alsa-lib, any plugin before one that needs no card may have failed.
      let plugins = type == "hw" ? type : types.alternatives
      return .notFound(
        .notFound,
        "The \(direction.noun) \(name) is defined, but ALSA's plugin \(plugins), or the card behind it, is missing."
      )
    // EINVAL for a card number that no card can have.
    case EINVAL
    where DeviceIdentity.cardNumber(behind: name) != nil && !DeviceIdentity.isKnown(name):
      return absent(name, direction)
    default:
      return reported(name, direction, DeviceNames.types(of: name).last, messages)
        ?? .notFound(.notFound, "The \(direction.noun) \(name) cannot be opened: \(words(code)).")
    }
  }

  /// Returns the failure of a PCM that ALSA's configuration defines, with the reason from alsa-lib;
  /// nil without a reason. The last plugin, of this type, is not the one that failed then.
  private static func reported(
    _ name: String, _ direction: PCMDirection, _ type: String?, _ messages: [String]
  ) -> DeviceFailure? {
    guard let type, type != "hw", let reason = messages.first else { return nil }
    return .notFound(
      .notFound,
      "The \(direction.noun) \(name) is defined, but cannot be opened: ALSA reports \"\(reason)\".")
  }

  private static func absent(_ name: String, _ direction: PCMDirection) -> DeviceFailure {
    .notFound(.notFound, "There is no \(direction.noun) \(name).")
  }

  static func using(
    _ name: String, _ direction: PCMDirection, _ action: String, code: Int32
  ) -> DeviceFailure {
    switch -code {
    case ENODEV, ENOTTY, EBADFD, EBADF:
      return DeviceFailure(
        .lost, "The \(direction.noun) \(name) went away.",
        hint: DeviceFailure.reconnectionHint)
    case EBUSY:
      return opening(name, direction, code: code)
    default:
      return DeviceFailure(
        .refused, "The \(direction.noun) \(name) could not be \(action): \(words(code)).",
        hint: "Try other settings.", remedy: .chooseSettings)
    }
  }

  /// Returns the failure of a device of which `predicate` is true, such as "cannot do a period of
  /// 16 frames".
  static func refused(
    _ name: String, _ direction: PCMDirection, _ predicate: String, hint: String,
    remedy: DeviceFailure.Remedy? = nil
  ) -> DeviceFailure {
    DeviceFailure(
      .refused, "The \(direction.noun) \(name) \(predicate).", hint: hint, remedy: remedy)
  }

  static func words(_ code: Int32) -> String {
    guard let text = snd_strerror(code) else { return "error \(code)" }
    return String(cString: text)
  }
}
