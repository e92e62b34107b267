import AudioBasics
import AudioFiles
import Testing

@testable import AudioSessions

@Suite struct StereoDownmixTests {
  /// Returns the share of each channel in the left and the right output.
  private func shares(_ channels: Int, _ speakers: [Speaker]?) -> [[Float]]? {
    guard let mix = StereoDownmix(channelCount: channels, speakers: speakers) else { return nil }
    return (0..<channels).map { channel in
      var sound = SampleBuffer(frameCount: 1, channelCount: channels)
      var stereo = SampleBuffer(frameCount: 1, channelCount: 2)
      sound[channel] = 1
      mix.apply(sound, from: 0, frames: 1, into: &stereo, at: 0)
      return [stereo[0], stereo[1]]
    }
  }

  private let half = Float(0.5).squareRoot()

  @Test func `surround channels are mixed by their speaker positions, in any order`() throws {
    let sum = 1 + half
    let found = try #require(
      shares(4, [.frontLeft, .frontRight, .frontCentre, .lowFrequency]))
    #expect(found == [[1 / sum, 0], [0, 1 / sum], [half / sum, half / sum], [0, 0]])
    let other = try #require(shares(4, [.frontRight, .backCentre, .frontLeft, .frontCentre]))
    let all = 1.5 + half
    #expect(other[0] == [0, 1 / all] && other[1] == [0.5 / all, 0.5 / all])
    #expect(other[2] == [1 / all, 0] && other[3] == [half / all, half / all])
  }

  @Test func `without speaker positions the default layout is assumed`() throws {
    let wanted = try #require(shares(6, Speaker.defaultLayout(channelCount: 6)))
    #expect(shares(6, nil) == wanted)
    #expect(shares(2, nil) == nil && shares(9, nil) == nil)
  }

  @Test(arguments: [3, 6, 10])
  func `channels without positions are all included`(channels: Int) throws {
    let none = [Speaker](repeating: .other, count: channels)
    let found = try #require(shares(channels, none))
    #expect(found[0][0] > 0 && found[0][1] == 0 && found[1][1] > 0 && found[1][0] == 0)
    #expect(found.dropFirst(2).allSatisfy { $0[0] > 0 && $0[0] == $0[1] })
    // The sum of all channels reaches at most full scale.
    #expect(abs(found.reduce(0) { $0 + $1[0] } - 1) < 1e-6)
  }

  @Test func `channels of one side only are treated as channels without positions`() throws {
    let found = try #require(shares(3, [.frontLeft, .backLeft, .sideLeft]))
    #expect(found.allSatisfy { $0[0] + $0[1] > 0 } && found.contains { $0[1] > 0 })
  }

  @Test func `a wrong number of speaker positions is replaced by the default layout`()
    throws
  {
    let usual = try #require(shares(6, nil))
    #expect(shares(6, [.frontLeft, .frontRight]) == usual)
    #expect(shares(6, [Speaker](repeating: .backLeft, count: 7)) == usual)
  }
}
