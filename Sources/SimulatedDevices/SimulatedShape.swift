/// The part of a simulated device's configuration that the audio thread needs: numbers only.
struct SimulatedShape: BitwiseCopyable, Sendable {
  var hasCapture: Bool
  var hasPlayback: Bool
  var isRealTime: Bool
  var periodFrames: Int
  var headroomFrames: Int
  var captureBufferFrames: Int
  var playbackBufferFrames: Int
}
