// Audio thread.
import AudioBasics
import AudioClocks

/// An asynchronous sample rate converter between two clocks: an estimate of both (`FilteredClock`),
/// the loop that keeps the delay between them (`DriftControl`), and the converter that follows its
/// ratio.
///
/// Positions on the input's clock are counted in its frames, gaps included, so that they stay valid
/// when either device stops. Output frames are counted from the output's last start.
struct ClockDomainBridge: ~Copyable {
  /// The error of the delay, in input frames, above which the delay is set at once instead of being
  /// adjusted gradually.
  private let resyncThreshold: Double
  /// The lowest ratio that `slowDown` sets, as a fraction of the nominal ratio.
  private static var maximumBend: Double { @_noLocks get { 0.9 } }
  /// The number of input frames that the converter looks ahead.
  let reachFrames: Int
  private(set) var input: FilteredClock
  private(set) var output: FilteredClock
  private(set) var relocks = 0
  /// The position of the converter's next input frame on the input's clock.
  private(set) var consumedFrames = 0
  /// The number of output frames handed over since the output's start.
  private(set) var writtenFrames = 0
  /// The number of times that the count of output frames was restarted.
  private(set) var epoch = 0
  private var control: DriftControl
  private var converter: VariableRateConverter
  private let silence: SampleBuffer
  /// The position of the converter's frame 0 on the input's clock.
  private var origin = 0
  /// Whether the delay is set.
  private(set) var isAligned = false
  private var wasAligned = false

  /// Creates a bridge from `inputRate` to `outputRate`, with `delaySeconds` from input to output.
  init(
    channelCount: Int, inputRate: Int, outputRate: Int, delaySeconds: Double,
    quality: ConversionQuality
  ) {
    let ratio = Double(inputRate) / Double(outputRate)
    resyncThreshold = Double(inputRate) / 100
    var converter = VariableRateConverter(
      channelCount: channelCount, maximumInputPerOutput: max(1, ratio * 1.01), quality: quality)
    converter.setRatio(ratio)
    reachFrames = converter.reachFrames
    self.converter = converter
    input = FilteredClock(framesPerSecond: Double(inputRate))
    output = FilteredClock(framesPerSecond: Double(outputRate))
    control = DriftControl(nominalRatio: ratio, delaySeconds: delaySeconds)
    silence = SampleBuffer(frameCount: 256, channelCount: channelCount)
  }

  /// Whether both clocks have had a reading since their start.
  var hasReadings: Bool {
    @_noLocks get { input.isRunning && output.isRunning }
  }

  /// The position of the next output frame on the input's clock.
  var position: Double {
    @_noLocks get { Double(origin) + converter.position }
  }

  /// Returns the position that the input must have reached for `frames` more output frames.
  @_noLocks @inline(__always)
  func needed(for frames: Int) -> Int {
    Int(clamping: position + converter.inputPerOutput * 1.0001 * Double(frames)) &+ reachFrames &+ 2
  }

  /// Records a reading of the input, gaps included.
  @_noLocks
  mutating func noteInput(_ reading: ClockReading) { input.take(reading) }

  /// Uses `clock`, which another part maintains, as the input's clock.
  @_noLocks
  mutating func followInput(_ clock: ClockEstimate) { input.follow(clock) }

  /// Increases the numbers of the input's frames by `frames` from now on.
  @_noLocks
  mutating func renumberInput(by frames: Int) {
    consumedFrames &+= frames
    origin &+= frames
  }

  /// Records a reading of the output.
  @_noLocks
  mutating func noteOutput(_ reading: ClockReading) { output.take(reading) }

  /// Handles a restart of the input.
  @_noLocks
  mutating func restartInput() {
    if input.isRunning { relocks &+= 1 }
    input.restart()
  }

  /// Handles a restart of the output with `frames` frames queued.
  @_noLocks
  mutating func restartOutput(queued frames: Int) {
    output.restart()
    writtenFrames = frames
    epoch &+= 1
    isAligned = false
  }

  /// Returns the frame that `clock`, another clock of the output, shows when the input frame at
  /// `position` must be played.
  @_noLocks @inline(__always)
  func outputFrame(of position: Double, on clock: ClockEstimate, at now: UInt64) -> Int {
    let ahead = (position - input.frames(at: now)) / input.framesPerSecond(at: now)
    let seconds = ahead + control.delaySeconds
    return Int(
      clamping: max(0, clock.frames(at: now) + seconds * clock.framesPerSecond(at: now) + 0.5))
  }

  /// Changes the output's clock to `clock`. The next frame handed to the output has the number
  /// `frame`. Each frame is played at the same time as without the change.
  @_noLocks
  mutating func changeOutput(to clock: FilteredClock, at frame: Int) {
    output = clock
    writtenFrames = frame
    epoch &+= 1
    relocks &+= 1
  }

  /// The error of the delay in output frames, at the last call of `steer`.
  var errorFrames: Double {
    @_noLocks get { control.errorFrames }
  }

  /// Counts `frames` more frames that were handed to the output.
  @_noLocks
  mutating func advanceOutput(_ frames: Int) { writtenFrames &+= frames }

  /// Sets the delay from input to output to `seconds`. With `jumping` it changes at once, otherwise
  /// gradually, like the correction of any other error.
  @_noLocks
  mutating func hold(delaySeconds seconds: Double, jumping: Bool) {
    control.hold(delaySeconds: seconds)
    // This is not counted as a jump of the input.
    if jumping && isAligned {
      isAligned = false
      wasAligned = false
    }
  }

  /// Returns the drift between the clocks and the error of the delay.
  @_noLocks
  func reading(at now: UInt64) -> DriftReading {
    DriftReading(
      ppm: hasReadings ? control.driftPPM(input.estimate, output.estimate, at: now) : 0,
      errorFrames: control.errorFrames, relocks: relocks)
  }

  /// Sets the ratio for the next `frames` output frames. If the delay is not set yet or far off,
  /// sets it, and returns the number of input frames that were skipped.
  @_noLocks
  mutating func steer(frames: Int, at now: UInt64) -> Int {
    guard hasReadings else { return 0 }
    let target = control.target(
      input.estimate, output.estimate, frame: Double(writtenFrames), at: now)
    if abs(position - target) > resyncThreshold { isAligned = false }
    let jumped = isAligned ? 0 : align(to: target)
    let ratio = control.steer(
      input.estimate, output.estimate, error: position - target, frames: frames, at: now)
    converter.setRatio(ratio, over: frames)
    return jumped
  }

  /// Lowers the ratio, because the input has only reached `frame`, which is not enough for
  /// `frames` output frames at the planned ratio. This replaces a gap by a lower pitch.
  @_noLocks
  mutating func slowDown(_ frames: Int, to frame: Int) {
    let now = converter.inputPerOutput
    let even = (Double(frame &- reachFrames &- 2) - position) / Double(frames)
    // The ratio changes linearly: the consumed input depends on the mean of its start and its end.
    let bent = max(2 * even - now, control.nominalRatio * Self.maximumBend)
    if bent < control.ratio { converter.setRatio(bent, over: frames) }
  }

  @_noLocks
  private mutating func align(to target: Double) -> Int {
    let before = position
    let first = Int(clamping: target + 0x1p40) &- (1 << 40) &- reachFrames
    origin = first
    consumedFrames = first
    converter.reset(position: target - Double(first))
    control.settle()
    isAligned = true
    if wasAligned {
      relocks &+= 1
      return Int(clamping: max(0, target - before) + 0.5)
    }
    wasAligned = true
    return 0
  }

  /// Converts the next input frames, of which `source` has `frames` from `firstFrame` on, into at
  /// most `room` frames of `target` from `offset` on.
  @_noLocks
  mutating func convert(
    _ source: borrowing SampleBuffer, from firstFrame: Int, frames: Int,
    into target: inout SampleBuffer, at offset: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    let moved = converter.convert(
      source, from: firstFrame, frames: frames, into: &target, at: offset, room: room)
    consumedFrames &+= moved.consumed
    return moved
  }

  /// Does the same without input frames, if they are late by less than the converter looks ahead.
  @_noLocks
  mutating func convertAhead(into target: inout SampleBuffer, at offset: Int, room: Int) -> Int {
    converter.convertAhead(into: &target, at: offset, room: room)
  }

  /// Does the same with silence in place of at most `frames` lost input frames.
  @_noLocks
  mutating func convertSilence(
    _ frames: Int, into target: inout SampleBuffer, at offset: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    let moved = converter.convert(
      silence, frames: min(frames, silence.frameCount), into: &target, at: offset, room: room)
    consumedFrames &+= moved.consumed
    return moved
  }
}
