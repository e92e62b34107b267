import CairoDrawing
import Testing

@testable import Reports

@Suite struct SoundPictureTests {
  @Test func `lightness increases along the colour scale`() {
    let lightness = ColourScale().pixels.map { pixel in
      0.2126 * Double(pixel >> 16 & 0xFF) + 0.7152 * Double(pixel >> 8 & 0xFF)
        + 0.0722 * Double(pixel & 0xFF)
    }
    #expect(lightness.first! < 3 && lightness.last! > 230)
    #expect(zip(lightness, lightness.dropFirst()).allSatisfy { $1 > $0 - 0.75 })
    #expect(zip(lightness, lightness.dropFirst(16)).allSatisfy { $1 > $0 + 4 })
  }

  @Test func `time is shown in units that suit its length`() {
    #expect(TimeTicks(seconds: 4).unit == "s")
    #expect(TimeTicks(seconds: 300).ticks.map(\.label).prefix(3) == ["0:00", "1:00", "2:00"])
    let hours = TimeTicks(seconds: 7200)
    #expect(
      hours.unit == "h:mm" && hours.ticks[1].label == "0:10" && hours.ticks.last?.label == "2:00")
    #expect(TimeTicks(seconds: 4_000_000).ticks.count < 20)
    #expect(TimeTicks(seconds: 0).ticks.map(\.label) == ["0"])
  }

  @Test(arguments: PictureFormat.allCases)
  func `a picture has the file format that was requested`(format: PictureFormat) throws {
    var canvas = try Canvas(format, width: 100, height: 50)
    canvas.write("Ärger & <b>", x: 10, y: 20, Colour(0))
    canvas.draw([0xFF0000, 0x00FF00], columns: 2, x: 0, y: 0, width: 100, height: 50)
    let bytes = try canvas.finish()
    let beginning: [UInt8] = format == .png ? [0x89, 0x50, 0x4E, 0x47] : Array("<?xml".utf8)
    #expect(bytes.starts(with: beginning) && bytes.count > 100)
  }
}
