import AudioBasics
import AudioFiles
import TemporaryFolders
import Testing

@Suite struct RandomDamageTests {
  private static let kinds: [(FileFormat, FileSampleFormat)] = [
    (.wav, .s16), (.wav, .s24), (.wav, .float), (.rf64, .s16), (.w64, .s24), (.caf, .s16),
    (.aiff, .s24), (.flac, .s16), (.ogg, .float), (.opus, .float),
  ]

  @Test(arguments: 0..<10)
  func `any damage leads to a message or to a file that can be repaired once`(
    index: Int
  ) throws {
    let (fileFormat, sampleFormat) = Self.kinds[index]
    var numbers = SplitMix64(seed: UInt64(index))
    let folder = TemporaryFolder()
    let whole = try BrokenFile(folder, "whole", fileFormat, sampleFormat, frames: 3000)
    var opened = 0
    for round in 0..<300 {
      var file = whole
      if round % 3 != 1 {
        file.bytes.removeLast(Int.random(in: 0..<file.bytes.count, using: &numbers))
      }
      if round % 3 != 0, !file.bytes.isEmpty {
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
          let place = Int.random(in: 0..<min(128, file.bytes.count), using: &numbers)
          // Extreme values cause overflows of sums.
          let extremes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF]
          let other = UInt8.random(in: 0...255, using: &numbers)
          let isExtreme = Bool.random(using: &numbers)
          file.bytes[place] = isExtreme ? extremes.randomElement(using: &numbers) ?? 0 : other
        }
      }
      file.store()
      do {
        let finding = try FileRepair.examine(file.path)
        if finding.isRepairable {
          try FileRepair.write(finding, to: folder("mended"), overwrite: true)
          // A repaired file needs no second repair.
          let again = try FileRepair.examine(folder("mended"))
          #expect(!again.isRepairable, "round \(round): \(again.faults)")
          #expect(again.frames == finding.frames, "round \(round)")
        }
        opened += 1
      } catch {
        let sentence = error.message
        #expect(sentence.hasSuffix("."), "round \(round): \(error)")
      }
    }
    // In such a short compressed file little can be found.
    #expect(opened > 20)
  }
}
