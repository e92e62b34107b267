import AudioDevices
import RealtimeAudio
import TemporaryFolders
import Testing

@testable import Duplex

@Suite struct DeviceOpeningTests {
  private static let selection = DeviceSelection(device: "sim:clock=free")

  /// An object that is owned by an opened device and deallocated when the device is closed.
  private final class Witness: Sendable {
    private let isHeld = MutexBox<CardReservation?>(CardReservation())
    private let seen: MutexBox<WeakReservation>

    private struct WeakReservation: Sendable {
      weak var reservation: CardReservation?
    }

    init() {
      seen = MutexBox(WeakReservation(reservation: isHeld.withLock { $0 }))
    }

    func take() -> CardReservation { isHeld.withLock { $0.take() } ?? CardReservation() }
    var isClosed: Bool { seen.withLock { $0.reservation == nil } }
  }

  @Test func `devices that open after their opening was abandoned are closed`() async throws {
    let (witness, mayOpen) = (Witness(), AtomicFlag())
    let opening = try DeviceOpening(Self.selection, CardReservation()) {
      (selection, _) throws(OpeningFailure) in
      while !mayOpen.isRaised { HostClock.pause(milliseconds: 1) }
      return try OpenDevice(opening: selection, reservation: witness.take())
    }
    let isDone = opening.isDone
    opening.abandon()
    #expect(!witness.isClosed)
    mayOpen.raise()
    while !isDone.isRaised { await Task.yield() }
    #expect(witness.isClosed)
  }

  @Test func `abandoning a completed opening closes its devices`() async throws {
    let witness = Witness()
    let opening = try DeviceOpening(Self.selection, CardReservation()) {
      (selection, _) throws(OpeningFailure) in
      try OpenDevice(opening: selection, reservation: witness.take())
    }
    while !opening.isDone.isRaised { await Task.yield() }
    #expect(!witness.isClosed)
    opening.abandon()
    #expect(witness.isClosed)
  }

  @Test(arguments: [1, 4800, 12_345])
  func `an opened device runs callbacks in one call, to the exact frame`(frames: Int) throws {
    let opened = try OpenDevice(opening: Self.selection)
    let mixer = Mixer(opened.configuration)
    let report = try opened.run(mixer, frameLimit: frames)
    #expect(report.frames == frames && report.failure == nil)
    if case .duration = report.stopReason {} else { Issue.record("\(report.stopReason)") }
  }

  @Test func `a run reads the file of a simulated microphone, and runs the caller's work`() throws {
    let folder = TemporaryFolder()
    var writer = try SoundFileWriter(
      path: folder("mic.wav"), fileFormat: .wav, sampleFormat: .float, sampleRate: 48000,
      channelCount: 1, overwrite: false)
    var tone = SampleBuffer(frameCount: 4800, channelCount: 1)
    for frame in 0..<4800 { tone[frame] = 0.5 }
    try writer.write(tone, frames: 4800)
    try writer.finish()
    let mic = folder("mic.wav")
    let opened = try OpenDevice(
      opening: DeviceSelection(input: "sim:clock=free,mic=\(mic)", output: nil))
    let work = StepCounter()
    let heard = MutexBox<Float>(0)
    var buffer = SampleBuffer(
      frameCount: opened.configuration.periodFrames,
      channelCount: opened.configuration.capture?.channelCount ?? 1)
    let closures = DuplexClosures(input: { cycle in
      cycle.render(into: &buffer)
      heard.withLock { $0 = max($0, buffer[0]) }
    })
    var snapshots = 0
    try opened.run(closures, background: [work], frameLimit: 48000) { _, _ in
      snapshots += 1
      return .proceed
    }
    #expect(heard.withLock { $0 } == 0.5)
    #expect(work.steps.withLock { $0 } > 0 && snapshots >= 10)
  }

  @Test func `the watch of a run ends it`() throws {
    let opened = try OpenDevice(opening: Self.selection)
    let mixer = Mixer(opened.configuration)
    let report = try opened.run(mixer) { moment, _ in
      moment.frames < 4800 ? .proceed : .stop(.request)
    }
    #expect(report.stopReason.isUserRequest && report.frames >= 4800)
  }

  @Test func `cards stay reserved during a run, and are released after it`() throws {
    let witness = Witness()
    let opened = try OpenDevice(opening: Self.selection, reservation: witness.take())
    var wasClosed = false
    let mixer = Mixer(opened.configuration)
    try opened.run(mixer, frameLimit: 4800) { _, _ in
      wasClosed = wasClosed || witness.isClosed
      return .proceed
    }
    #expect(!wasClosed && witness.isClosed)
  }

  @Test func `callbacks that do not fit are refused before the run`() throws {
    let opened = try OpenDevice(opening: Self.selection)
    do throws(DeviceFailure) {
      try opened.run(Mixer(periodFrames: 1, captureChannels: 1, playbackChannels: 1))
      Issue.record("A mixer of one channel runs on two.")
    } catch {
      #expect(error.kind == .invalidRequest)
    }
  }

  @Test func `the reason for which devices cannot be opened names the device or the file`() {
    for (device, isFile) in [("sim:rate=1", false), ("sim:clock=free,mic=/nowhere.wav", true)] {
      do throws(OpeningFailure) {
        _ = try OpenDevice(opening: DeviceSelection(device: device))
        Issue.record("\(device) was opened")
      } catch {
        switch (error, EngineFailure(error)) {
        case (.device(let failure), .device(let told)): #expect(!isFile && told == failure)
        case (.file(let failure), .file(let told)): #expect(isFile && told == failure)
        default: Issue.record("\(error)")
        }
        #expect(!error.message.isEmpty && error.message == error.cause.message)
        #expect(!error.hint.isEmpty && error.hint == error.cause.hint)
      }
    }
  }

  @Test func `secondary outputs that cannot play are refused for their own reason`() {
    let simulated = "sim:clock=free"
    for (output, secondary, fault) in [
      (nil, ["sim:clock=free,delay=1"], "no output"),
      (simulated, [""], "is empty"),
      (simulated, (1...9).map { "sim:clock=free,delay=\($0)" }, "No more than 8"),
    ] as [(String?, [String], String)] {
      var selection = DeviceSelection(input: simulated, output: output)
      selection.secondaryOutputs = secondary
      do throws(OpeningFailure) {
        _ = try OpenDevice(opening: selection)
        Issue.record("\(secondary) were opened")
      } catch {
        #expect(error.message.contains(fault), "\(error.message)")
      }
    }
  }
}

/// Work that counts its steps.
private final class StepCounter: BackgroundWork {
  let steps = MutexBox(0)
  private let isOver = AtomicFlag()

  func step() -> Bool {
    steps.withLock { $0 += 1 }
    return !isOver.isRaised
  }

  func conclude() { isOver.raise() }
}
