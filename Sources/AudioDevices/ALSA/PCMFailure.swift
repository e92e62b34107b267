import CALSA
import Glibc

/// Puts ALSA's return codes into words.
enum PCMFailure {
  static func opening(_ name: String, _ direction: PCMDirection, code: Int32) -> DeviceFailure {
    switch -code {
    case EBUSY:
      let holder = BusyDevice.holder(of: name).map { " by \($0)" } ?? ""
      return DeviceFailure(
        .busy, "The \(direction.noun) \(name) is in use\(holder).",
        hint: "End the program that holds it, or name another device with --device.")
    case EACCES, EPERM:
      return DeviceFailure(
        .permissionDenied, "This user may not open the \(direction.noun) \(name).",
        hint: "Add the user to the group audio, then log in again.")
    case ENOENT, ENODEV, ENXIO, ENOTTY:
      return DeviceFailure(
        .notFound, "There is no \(direction.noun) \(name).",
        hint: "List the devices with `duplex devices`, or try --device sim.")
    default:
      return DeviceFailure(
        .notFound, "The \(direction.noun) \(name) cannot be opened: \(words(code)).",
        hint: "List the devices with `duplex devices`, or try --device sim.")
    }
  }

  static func using(
    _ name: String, _ direction: PCMDirection, _ action: String, code: Int32
  ) -> DeviceFailure {
    switch -code {
    case ENODEV, ENOTTY, EBADFD, EBADF:
      return DeviceFailure(
        .lost, "The \(direction.noun) \(name) went away.",
        hint: "Plug it in again, then start anew; what was recorded so far is saved.")
    case EBUSY:
      return opening(name, direction, code: code)
    default:
      return DeviceFailure(
        .refused, "The \(direction.noun) \(name) could not be \(action): \(words(code)).",
        hint: "Try other settings; `duplex devices` lists what each device can do.")
    }
  }

  static func refused(
    _ name: String, _ direction: PCMDirection, _ what: String, hint: String
  ) -> DeviceFailure {
    DeviceFailure(.refused, "The \(direction.noun) \(name) cannot do \(what).", hint: hint)
  }

  private static func words(_ code: Int32) -> String {
    guard let text = snd_strerror(code) else { return "error \(code)" }
    return String(cString: text)
  }
}
