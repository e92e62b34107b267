import AudioBasics
import AudioDevices
import AudioFiles

/// The reason for which devices cannot be opened.
///
/// ```swift
/// do throws(OpeningFailure) {
///   _ = try OpenDevice(opening: DeviceSelection(device: "sim:rate=1"))
/// } catch {
///   let failure = error.cause as? DeviceFailure
///   precondition(failure?.kind == .invalidRequest)
///   print(error.message, error.hint)
/// }
/// ```
public enum OpeningFailure: ExplainedFailure, Sendable, Equatable {
  /// A device does not exist, is busy, or cannot satisfy the request.
  case device(DeviceFailure)
  /// The file of a simulated microphone cannot be played.
  case file(FileFailure)

  /// The failure of the device or the file.
  public var cause: any ExplainedFailure {
    switch self {
    case .device(let failure): failure
    case .file(let failure): failure
    }
  }

  /// The description of the failure, in one sentence.
  public var message: String { cause.message }

  /// The recommended action, in one sentence.
  public var hint: String { cause.hint }
}
