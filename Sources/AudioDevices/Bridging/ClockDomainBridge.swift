// Audio thread.
import AudioBasics
import AudioClocks

/// An asynchronous sample rate converter between two clocks: an estimate of both (`FilteredClock`),
/// the loop that keeps the delay between them (`DriftControl`), and the converter that follows its
/// ratio.
///
/// Places on the input's clock are counted in its frames, gaps included, so that they last through
/// a stop of either device. Output frames are counted from the output's last start.
struct ClockDomainBridge: ~Copyable {
  /// Input frames: where the delay is further off than that, it is set anew rather than brought
  /// back.
  private let resyncThreshold: Double
  /// The least part of its nominal value to which `slowDown` lowers the ratio.
  private static var mostBend: Double { @_noLocks get { 0.9 } }
  /// Input frames that the converter looks ahead.
  let reachFrames: Int
  private(set) var input: FilteredClock
  private(set) var output: FilteredClock
  private(set) var relocks = 0
  /// Where the next frame for the converter lies on the input's clock.
  private(set) var consumedFrames = 0
  /// Output frames handed over since the output's start.
  private(set) var writtenFrames = 0
  /// How often output frames were counted anew.
  private(set) var epoch = 0
  private var control: DriftControl
  private var converter: VariableRateConverter
  private let silence: SampleBuffer
  /// Where the converter's own frame 0 lies on the input's clock.
  private var origin = 0
  /// Whether the delay is set.
  private(set) var isAligned = false
  private var wasAligned = false

  /// From `inputRate` to `outputRate`, with `delaySeconds` from input to output.
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

  /// Whether both clocks have told the time since their start.
  var knowsTime: Bool {
    @_noLocks get { input.isRunning && output.isRunning }
  }

  /// Where the next output frame lies on the input's clock.
  var position: Double {
    @_noLocks get { Double(origin) + converter.position }
  }

  /// Where the input must have come to for `frames` more output frames.
  @_noLocks @inline(__always)
  func needed(for frames: Int) -> Int {
    Int(clamping: position + converter.inputPerOutput * 1.0001 * Double(frames)) &+ reachFrames &+ 2
  }

  /// The input was found at `reading`, gaps included.
  @_noLocks
  mutating func noteInput(_ reading: ClockReading) { input.take(reading) }

  /// The input goes by `clock`, which another part keeps.
  @_noLocks
  mutating func followInput(_ clock: ClockEstimate) { input.follow(clock) }

  /// The input's frames have numbers higher by `frames` from now on.
  @_noLocks
  mutating func renumberInput(by frames: Int) {
    consumedFrames &+= frames
    origin &+= frames
  }

  /// The output was found at `reading`.
  @_noLocks
  mutating func noteOutput(_ reading: ClockReading) { output.take(reading) }

  /// The input starts anew.
  @_noLocks
  mutating func restartInput() {
    if input.isRunning { relocks &+= 1 }
    input.restart()
  }

  /// The output starts anew with `frames` frames queued.
  @_noLocks
  mutating func restartOutput(queued frames: Int) {
    output.restart()
    writtenFrames = frames
    epoch &+= 1
    isAligned = false
  }

  /// The frame that `clock`, another clock of the output, shows when what lies at `position` of the
  /// input must be played.
  @_noLocks @inline(__always)
  func outputFrame(of position: Double, on clock: ClockEstimate, at now: UInt64) -> Int {
    let ahead = (position - input.frames(at: now)) / input.framesPerSecond(at: now)
    let seconds = ahead + control.delaySeconds
    return Int(
      clamping: max(0, clock.frames(at: now) + seconds * clock.framesPerSecond(at: now) + 0.5))
  }

  /// The output goes by `clock` from now on, and the next frame handed to it is its number `frame`.
  /// Each frame is played at the time at which it would have been.
  @_noLocks
  mutating func changeOutput(to clock: FilteredClock, at frame: Int) {
    output = clock
    writtenFrames = frame
    epoch &+= 1
    relocks &+= 1
  }

  /// Output frames by which the delay is off, as last steered.
  var errorFrames: Double {
    @_noLocks get { control.errorFrames }
  }

  /// `frames` more frames were handed to the output.
  @_noLocks
  mutating func advanceOutput(_ frames: Int) { writtenFrames &+= frames }

  /// Keeps `seconds` from input to output from now on. With `jumping` the delay is set at once,
  /// otherwise it is brought there as any other error.
  @_noLocks
  mutating func hold(delaySeconds seconds: Double, jumping: Bool) {
    control.hold(delaySeconds: seconds)
    // Not counted as a jump of the input.
    if jumping && isAligned {
      isAligned = false
      wasAligned = false
    }
  }

  /// How the clocks are held together.
  @_noLocks
  func reading(at now: UInt64) -> DriftReading {
    DriftReading(
      ppm: knowsTime ? control.driftPPM(input.estimate, output.estimate, at: now) : 0,
      errorFrames: control.errorFrames, relocks: relocks)
  }

  /// Turns to the ratio for the next `frames` output frames. Where the delay is not set yet or far
  /// off, sets it, and returns how many input frames were jumped over.
  @_noLocks
  mutating func steer(frames: Int, at now: UInt64) -> Int {
    guard knowsTime else { return 0 }
    let target = control.target(
      input.estimate, output.estimate, frame: Double(writtenFrames), at: now)
    if abs(position - target) > resyncThreshold { isAligned = false }
    let jumped = isAligned ? 0 : align(to: target)
    let ratio = control.steer(
      input.estimate, output.estimate, error: position - target, frames: frames, at: now)
    converter.setRatio(ratio, over: frames)
    return jumped
  }

  /// The input has come to `place` only, which is too little for `frames` output frames at the
  /// ratio that they were to have: lowers the ratio. What would be a gap becomes a lower pitch.
  @_noLocks
  mutating func slowDown(_ frames: Int, to place: Int) {
    let now = converter.inputPerOutput
    let even = (Double(place &- reachFrames &- 2) - position) / Double(frames)
    // The ratio ramps linearly: the input consumed follows the mean of its start and its end.
    let bent = max(2 * even - now, control.nominalRatio * Self.mostBend)
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

  /// Converts input frames that come next, of which there are `frames` in `source` from
  /// `firstFrame` on, into at most `room` frames of `target` from `place` on.
  @_noLocks
  mutating func convert(
    _ source: borrowing SampleBuffer, from firstFrame: Int, frames: Int,
    into target: inout SampleBuffer, at place: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    let moved = converter.convert(
      source, from: firstFrame, frames: frames, into: &target, at: place, room: room)
    consumedFrames &+= moved.consumed
    return moved
  }

  /// The same without input, which is late by less than the converter looks ahead.
  @_noLocks
  mutating func convertAhead(into target: inout SampleBuffer, at place: Int, room: Int) -> Int {
    converter.convertAhead(into: &target, at: place, room: room)
  }

  /// The same with silence in place of at most `frames` input frames that are lost.
  @_noLocks
  mutating func convertSilence(
    _ frames: Int, into target: inout SampleBuffer, at place: Int, room: Int
  ) -> (consumed: Int, produced: Int) {
    let moved = converter.convert(
      silence, frames: min(frames, silence.frameCount), into: &target, at: place, room: room)
    consumedFrames &+= moved.consumed
    return moved
  }
}
