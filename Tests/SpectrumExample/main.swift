// Plays a file on the default device, or on the given device, and draws its spectrum line by line
// as it is played: an example of a player's tap.
//
//   swift run -c release SpectrumExample FILE [PCM]
import AudioDevices
import AudioSessions
import RealtimeAudio

/// Plays `path` on the device `name` and calls `draw` for each new line.
func playDrawing(_ path: String, on name: String, draw: (String) -> Void) throws {
  let request = DuplexRequest(captureDevice: nil, playbackDevice: name)
  let device = try ALSADuplex(opening: request)
  let configuration = device.configuration
  let player = AudioPlayer(endsWithQueue: true)
  let tap = SpectrumTap(bandCount: 64, sampleRate: configuration.sampleRate)
  player.tap = tap
  player.enqueue(path: path)
  player.play()
  var callbacks = Mixer(configuration)
  callbacks.player = try player.attach(to: configuration)
  callbacks.endsWithPlayer = true
  let runner = SessionRunner(
    device: device, callbacks: callbacks, background: player.background, meter: nil, frameLimit: nil
  )
  // A device without a clock is played in step with the decoder.
  let clock: SessionClock = configuration.keepsTime ? .real(.normal) : .virtual
  var drawn = -1
  _ = try runner.run(clock: clock) { _, _ in
    if case .real = clock { HostClock.pause(milliseconds: 30) }
    if let spectrum = tap?.spectrum(frame: player.playedFrame), spectrum.frame != drawn {
      drawn = spectrum.frame
      draw(SpectrumText.line(spectrum.levels))
    }
    return .proceed
  }
}

let words = CommandLine.arguments
if words.count < 2 {
  print("Usage: SpectrumExample FILE [PCM]")
} else {
  try playDrawing(words[1], on: words.count > 2 ? words[2] : "default") { line in
    print(line)
  }
}
