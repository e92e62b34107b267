import AudioBasics
import CALSA

/// Which way sound goes through a PCM.
enum PCMDirection: Sendable {
  case capture, playback

  var stream: snd_pcm_stream_t {
    self == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
  }

  /// For sentences.
  var noun: String { self == .capture ? "input" : "output" }
}

/// One direction of one ALSA device, open until it goes out of scope.
///
/// Driven by one thread at a time. What runs on the audio thread is in `PCM+Transfer.swift`.
struct PCM: ~Copyable {
  let handle: OpaquePointer
  let name: String
  let direction: PCMDirection
  let isCapture: Bool
  /// What the hardware answered; set by `configure`.
  var configuration: StreamConfiguration
  /// How frames move: through the device's own memory, or copied by read and write.
  var transfer: PCMTransfer

  /// Opens the PCM `name`. Never blocks on a busy device.
  init(opening name: String, _ direction: PCMDirection) throws(DeviceFailure) {
    AlsaLibrary.prepare()
    var opened: OpaquePointer?
    let result = snd_pcm_open(&opened, name, direction.stream, SND_PCM_NONBLOCK)
    guard result == 0, let opened else {
      throw PCMFailure.opening(name, direction, code: result)
    }
    handle = opened
    self.name = name
    self.direction = direction
    isCapture = direction == .capture
    configuration = StreamConfiguration(
      device: name, sampleRate: 0, channelCount: 0, format: .s16LE, periodFrames: 0,
      bufferFrames: 0)
    transfer = PCMTransfer(access: .mappedInterleaved, format: .s16LE, channelCount: 1, frames: 1)
  }

  deinit {
    snd_pcm_close(handle)
  }

  /// False where no card and no server stands at the end of all plugins, but ALSA's `null`, whatever
  /// name it goes by: there is no clock behind. ALSA itself says what a PCM is made of.
  var keepsTime: Bool {
    var allocated: OpaquePointer?
    guard snd_pcm_info_malloc(&allocated) == 0, let info = allocated else { return true }
    defer { snd_pcm_info_free(info) }
    guard snd_pcm_info(handle, info) == 0, snd_pcm_info_get_card(info) < 0 else { return true }
    return !parts.contains("Null PCM")
  }

  /// What it is made of, a line each: plugins, and what they pass frames on to.
  private var parts: [Substring] {
    var allocated: OpaquePointer?
    guard snd_output_buffer_open(&allocated) == 0, let output = allocated else { return [] }
    defer { snd_output_close(output) }
    var text: UnsafeMutablePointer<CChar>?
    guard snd_pcm_dump(handle, output) == 0 else { return [] }
    let count = snd_output_buffer_string(output, &text)
    guard count > 0, let text else { return [] }
    let bytes = UnsafeRawBufferPointer(start: text, count: count)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
      line.hasPrefix("Slave: ") ? line.dropFirst("Slave: ".count) : line
    }
  }

  /// Makes it ready to start, empty.
  func prepare() throws(DeviceFailure) {
    try check(snd_pcm_prepare(handle), "prepared")
  }

  /// Starts it, and what it is linked to.
  func start() throws(DeviceFailure) {
    try check(snd_pcm_start(handle), "started")
  }

  /// Stops it at once.
  func drop() {
    snd_pcm_drop(handle)
  }

  /// Throws what a negative return code means; `action` completes "could not be".
  func check(_ code: Int32, _ action: String) throws(DeviceFailure) {
    guard code < 0 else { return }
    throw PCMFailure.using(name, direction, action, code: code)
  }
}
