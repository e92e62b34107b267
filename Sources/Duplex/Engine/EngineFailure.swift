import AudioDevices
import AudioFiles
import LatencyMeasurement

/// The reason for which an engine cannot execute a request.
///
/// ```swift
/// let engine = DuplexEngine(device: "sim:clock=free")
/// do throws(EngineFailure) {
///   try await engine.record(to: "take.xyz")
///   try await engine.start()
/// } catch {
///   precondition(error == .unknownFormat(path: "take.xyz"))
///   print(error.message, error.hint)
/// }
/// ```
public enum EngineFailure: ExplainedFailure, Sendable, Equatable {
  /// A device does not exist, is busy, or cannot satisfy the request.
  case device(DeviceFailure)
  /// A file cannot be created or read.
  case file(FileFailure)
  /// The name of a recording does not indicate its format.
  case unknownFormat(path: String)
  /// The device has no direction for that source.
  case nothingToRecord(RecordingSettings.Source)
  /// That source is already being recorded: only one recording of each at a time.
  case alreadyRecording(RecordingSettings.Source)
  /// A run of a given length, or a measurement, was requested while the engine runs, or any run
  /// while it measures.
  case alreadyRunning
  /// The engine was stopped before audio ran, or before a measurement had a result.
  case stopped
  /// A measurement of the round trip has no result.
  case noRoundTrip(RoundTripFailure)
  /// Other devices were requested before these were open.
  case superseded
  /// A sample rate was requested while audio is being recorded at another rate.
  case recordingAtRate(Int)

  /// The description of the failure, in one sentence.
  public var message: String {
    switch self {
    case .device(let failure): failure.message
    case .file(let failure): failure.message
    case .unknownFormat(""): "The name of the file is empty."
    case .unknownFormat(let path):
      "The name \(FileName.withoutUser(path)) has no known extension, so the file format is unknown."
    case .nothingToRecord(.microphone): "There is no input to record."
    case .nothingToRecord(.output): "There is no output to record."
    case .alreadyRecording(.microphone): "The microphone is being recorded already."
    case .alreadyRecording(.output): "The output is being recorded already."
    case .alreadyRunning: "The engine is running already."
    case .stopped: "The engine was stopped before it ran, or before its measurement had a result."
    case .noRoundTrip(let failure): failure.message
    case .superseded: "Other devices were asked for before these were open."
    case .recordingAtRate(let rate): "A recording at \(rate) Hz is running."
    }
  }

  /// The recommended action, in one sentence.
  public var hint: String {
    switch self {
    case .device(let failure): failure.hint
    case .file(let failure): failure.hint
    case .unknownFormat: "End it in .wav, .flac or another known ending, or set fileFormat."
    case .nothingToRecord: "Name a device for that direction."
    case .alreadyRecording: "Stop that recording first."
    case .alreadyRunning: "Stop it first, or wait until it has finished."
    case .stopped: "Start it again."
    case .noRoundTrip(let failure): failure.hint
    case .superseded: "Ask for them again if they are still wanted."
    case .recordingAtRate:
      "Leave the rate out, and sound is resampled; or stop the recording first."
    }
  }

  /// Creates the failure that a caller of an engine receives if its devices cannot be opened.
  init(_ error: OpeningFailure) {
    switch error {
    case .device(let failure): self = .device(failure)
    case .file(let failure): self = .file(failure)
    }
  }
}
