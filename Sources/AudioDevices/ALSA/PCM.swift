import AudioBasics
import CALSA

/// The direction of a PCM.
enum PCMDirection: Sendable {
  case capture, playback

  var stream: snd_pcm_stream_t {
    self == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
  }

  /// The word for the direction in messages.
  var noun: String { self == .capture ? "input" : "output" }
}

/// The memory of a structure that alsa-lib allocates for a query or its result. It is freed when
/// the value goes out of scope.
struct ALSAMemory: ~Copyable {
  let pointer: OpaquePointer
  private let free: (OpaquePointer?) -> Void

  init(
    _ allocate: (UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
    _ free: @escaping (OpaquePointer?) -> Void
  ) throws(DeviceFailure) {
    var allocated: OpaquePointer?
    guard allocate(&allocated) == 0, let allocated else {
      throw DeviceFailure(
        .refused, "There is not enough memory.", hint: "End other programs, then try again.")
    }
    pointer = allocated
    self.free = free
  }

  deinit {
    free(pointer)
  }
}

/// What is at the end of all plugins of a PCM: a card with its number, a sound server, or something
/// without a clock.
enum PCMEnd: Equatable {
  case card(Int)
  case server
  case unknown

  /// Returns whether an input and an output have two clocks: those of two cards, or of a card and a
  /// server. Both directions of a server count as one device here.
  static func haveTwoClocks(_ input: PCMEnd?, _ output: PCMEnd?) -> Bool {
    guard let input, let output, input != .unknown, output != .unknown else { return false }
    return input != output
  }
}

/// One direction of one ALSA device, open until the value goes out of scope.
///
/// One thread at a time uses it. The functions for the audio thread are in `PCMTransfer.swift`.
struct PCM: ~Copyable {
  let handle: OpaquePointer
  let name: String
  let direction: PCMDirection
  let isCapture: Bool
  /// The configuration that the hardware granted; set by `configure`.
  var configuration: StreamConfiguration
  /// The method of transfer: through the device's own memory, or copied by read and write calls.
  var transfer: PCMTransfer
  /// The number of the client of JACK that the PCM is; nil if it is none.
  private let client: Int?

  /// Whether the PCM is a client of JACK.
  var usesJACK: Bool { client != nil }

  /// Opens the PCM `name`. Never blocks on a busy device. A client of JACK waits for its turn.
  init(opening name: String, _ direction: PCMDirection) throws(DeviceFailure) {
    ALSALibrary.prepare()
    var opened: OpaquePointer?
    let usesJACK = DeviceNames.leadsToJACK(name)
    guard JACKTurn.begin(if: usesJACK) else { throw .noTurn(name) }
    defer { JACKTurn.end(if: usesJACK) }
    if usesJACK { duplex_silence_jack() }
    var text = [CChar](repeating: 0, count: 1024)
    let result = duplex_open_pcm(&opened, name, direction.stream, &text, text.count)
    guard result == 0, let opened else {
      throw PCMFailure.opening(
        name, direction, code: result, messages: ALSAConfiguration.messages(text))
    }
    handle = opened
    client = usesJACK ? JACKClients.add() : nil
    self.name = name
    self.direction = direction
    isCapture = direction == .capture
    configuration = StreamConfiguration(
      device: name, sampleRate: 0, channelCount: 0, format: .s16LE, periodFrames: 0,
      bufferFrames: 0)
    transfer = PCMTransfer(
      access: .mappedInterleaved, format: .s16LE, channelCount: 1, selection: nil, frames: 1)
  }

  deinit {
    // While another thread does not return from JACK's library, the client is left to the system.
    guard JACKTurn.begin(if: usesJACK) else { return }
    snd_pcm_close(handle)
    if let client { JACKClients.remove(client) }
    JACKTurn.end(if: usesJACK)
  }

  /// Whether the PCM keeps time. False if the end of all plugins is neither a card nor a server,
  /// but ALSA's `null` under any name: such a PCM has no clock. ALSA itself reports the parts of a
  /// PCM.
  var keepsTime: Bool {
    isCard || !Self.isNull(parts)
  }

  /// Returns whether the parts of a PCM end in ALSA's `null`: `Null PCM`, or `Plug PCM: Null PCM`.
  /// Of several PCMs behind `multi`, one that keeps time suffices.
  static func isNull(_ parts: [Substring]) -> Bool {
    let ends = parts.count { $0.hasPrefix("Slave #") && !$0.hasSuffix("Multi PCM") }
    return parts.count { $0.hasSuffix("Null PCM") } >= max(1, ends)
  }

  /// Whether a card is at the end of all plugins, rather than a sound server or a file. True if
  /// ALSA does not report it.
  var isCard: Bool { card.map { $0 >= 0 } ?? true }

  /// The number of the card at the end of all plugins, negative if there is none; nil if ALSA does
  /// not report it.
  private var card: Int? {
    guard let info = try? ALSAMemory(snd_pcm_info_malloc, snd_pcm_info_free),
      snd_pcm_info(handle, info.pointer) == 0
    else { return nil }
    return Int(snd_pcm_info_get_card(info.pointer))
  }

  /// Whether a sound server is at the end of all plugins.
  var isServer: Bool { !isCard && keepsTime }

  /// What is at the end of all plugins of a configured PCM.
  var end: PCMEnd {
    if configuration.isServer { return .server }
    return card.flatMap { $0 >= 0 ? .card($0) : nil } ?? .unknown
  }

  /// The time in seconds in which a configured server's input delivers frames that were not read in
  /// time; 0 for the plugins of PipeWire and JACK, which drop them; nil for other inputs.
  var catchUpSeconds: Double? {
    guard isCapture, configuration.isServer else { return nil }
    let text = parts.joined()
    return text.contains("PipeWire") || text.contains("JACK")
      ? 0 : text.contains("PulseAudio") ? 0.5 : nil
  }

  /// The parts of the PCM, one per line: the plugins, and the PCMs to which they pass frames.
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

  /// Prepares the PCM for a start, with an empty buffer.
  func prepare() throws(DeviceFailure) {
    try check(snd_pcm_prepare(handle), "prepared")
  }

  /// Starts the PCM, and the PCM that is linked to it.
  func start() throws(DeviceFailure) {
    try check(snd_pcm_start(handle), "started")
  }

  /// Stops the PCM at once.
  func drop() {
    snd_pcm_drop(handle)
  }

  /// Stops the PCM at the end of a session, a client of JACK in its turn.
  func stop() {
    guard JACKTurn.begin(if: usesJACK) else { return }
    drop()
    JACKTurn.end(if: usesJACK)
  }

  /// Throws the failure that a negative return code means; `action` completes "could not be".
  func check(_ code: Int32, _ action: String) throws(DeviceFailure) {
    guard code < 0 else { return }
    throw PCMFailure.using(name, direction, action, code: code)
  }
}

extension PCM {
  /// Returns all formats, rates, channel counts and sizes that the PCM supports.
  func abilities() throws(DeviceFailure) -> StreamAbilities {
    let memory = try ALSAMemory(snd_pcm_hw_params_malloc, snd_pcm_hw_params_free)
    let space = memory.pointer
    try check(snd_pcm_hw_params_any(handle, space), "asked for its abilities")
    return StreamAbilities(
      formats: formats(in: space),
      sampleRates: Self.range(
        from: { snd_pcm_hw_params_get_rate_min(space, $0, nil) },
        to: { snd_pcm_hw_params_get_rate_max(space, $0, nil) }),
      channelCounts: Self.range(
        from: { snd_pcm_hw_params_get_channels_min(space, $0) },
        to: { snd_pcm_hw_params_get_channels_max(space, $0) }),
      periodFrames: Self.range(
        from: { snd_pcm_hw_params_get_period_size_min(space, $0, nil) },
        to: { snd_pcm_hw_params_get_period_size_max(space, $0, nil) }),
      bufferFrames: Self.range(
        from: { snd_pcm_hw_params_get_buffer_size_min(space, $0) },
        to: { snd_pcm_hw_params_get_buffer_size_max(space, $0) }))
  }

  private func formats(in space: OpaquePointer) -> [String] {
    (0...SND_PCM_FORMAT_LAST.rawValue).compactMap { number in
      let format = snd_pcm_format_t(rawValue: number)
      guard snd_pcm_hw_params_test_format(handle, space, format) == 0,
        let name = snd_pcm_format_name(format)
      else { return nil }
      return String(cString: name)
    }
  }

  private static func range<Number: UnsignedInteger>(
    from lowest: (UnsafeMutablePointer<Number>) -> Int32,
    to highest: (UnsafeMutablePointer<Number>) -> Int32
  ) -> ClosedRange<Int> {
    var low: Number = 0
    var high: Number = 0
    guard lowest(&low) == 0, highest(&high) == 0, low <= high else { return 0...0 }
    // A plugin without limits reports the largest number possible.
    return Int(clamping: low)...Int(clamping: high)
  }
}

/// The functions of a PCM that uses its own clock.
extension PCM {
  /// Opens the device that `request` names for `direction`, and configures it for a unit of two
  /// clocks, at its own rate if it does not support the requested rate.
  static func opening(_ request: DuplexRequest, _ direction: PCMDirection)
    throws(DeviceFailure) -> PCM
  {
    let name = direction == .capture ? request.captureDevice : request.playbackDevice
    var pcm = try PCM(opening: name ?? "", direction)
    let period = request.periodFrames
    // The length of the buffer does not add to the delay; only the queued frames do.
    let frames = max(request.periods * period, 4 * (period + request.headroom) + 512, 8192)
    try pcm.configure(request, bufferFrames: frames)
    // The unit polls at its own times and needs no wake-up from the device. However, PipeWire's
    // plugin passes at most this many frames to its server at a time, whatever the quantum.
    let stream = pcm.configuration
    let isServerOutput = stream.isServer && !pcm.isCapture
    try pcm.configureWaking(
      availableFrames: isServerOutput ? stream.bufferFrames / 2 : stream.periodFrames)
    return pcm
  }

  /// Returns a poll set that waits until the PCM has `availableFrames` frames, or room for them.
  func pollSet(availableFrames: Int) throws(DeviceFailure) -> PollSet {
    try PollSet(for: self, availableFrames: availableFrames)
  }

  /// Starts the PCM again from any state, with only `frames` frames of silence queued.
  mutating func startAnew(silence frames: Int) throws(DeviceFailure) {
    drop()
    resume()
    try prepare()
    try queueSilence(frames)
    try start()
  }

  /// Queues the initial silence. Throws if the output does not accept all of it.
  mutating func queueSilence(_ frames: Int) throws(DeviceFailure) {
    let played = playSilence(frames)
    guard played >= frames else {
      throw DeviceFailure(
        .refused, "The output took \(played) of \(frames) frames of silence to start with.",
        hint: "Ask for more periods or less headroom.", remedy: .enlargeBuffer)
    }
  }
}

extension PCM {
  /// The time in nanoseconds that a server's input may take to deliver its first frames. A server
  /// that is still starting accepts a stream before it can connect it, and then forgets it. Such a
  /// stream must be opened again.
  static let movesWithinNanoseconds: UInt64 = 2_000_000_000

  /// Whether the input that was just started has delivered frames. Always true for hardware.
  var hasMoved: Bool { !configuration.isServer || availableNow() > 0 }
}
