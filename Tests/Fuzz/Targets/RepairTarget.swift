import AudioBasics
import AudioFiles
import Glibc

extension FuzzTarget {
  /// `FileRepair`: it must report each file that it has repaired as intact.
  static let repair = FuzzTarget("repair", maximumLength: 32768) { input in
    ScratchFile.sound.with(input.bytes) { path in
      let lostHeader = try? LostHeader(
        sampleRate: input.choose(from: [48000, 8000, 768_000]),
        channelCount: input.choose(from: [1, 2, 64]),
        sampleFormat: input.choose(from: FileSampleFormat.allCases))
      guard
        let found = try? FileRepair.examine(
          path, lostHeader: input.choose() % 2 == 0 ? lostHeader : nil)
      else { return }
      guard found.frames >= 0, found.sampleRate >= 0 else {
        finding("\(found.frames) frames at \(found.sampleRate) Hz")
      }
      _ = (found.seconds, found.problems, found.headerFrames)
      guard found.isRepairable else { return }
      unlink(ScratchFile.repaired.path)
      do throws(FileFailure) {
        try FileRepair.write(found, to: ScratchFile.repaired.path, overwrite: false)
      } catch {
        refuse(found, error)
        return
      }
      defer { unlink(ScratchFile.repaired.path) }
      check(found)
      guard !found.needsCopy else { return }
      guard (try? FileRepair.repairInPlace(found)) != nil else {
        finding("a file that can be repaired in place was not repaired")
      }
      guard ScratchFile.sound.bytes == ScratchFile.repaired.bytes else {
        finding("a copy and a repair in place differ")
      }
    }
  }

  /// Checks a refused repair: something else in the header makes the file unplayable, even if its
  /// lengths are correct.
  private static func refuse(_ found: RepairFinding, _ failure: FileFailure) {
    guard failure.kind == .unusableContents else {
      finding("a repairable file was not repaired: \(failure.message)")
    }
    guard access(ScratchFile.repaired.path, F_OK) != 0 else {
      finding("a copy that cannot be played was left behind")
    }
    guard !found.needsCopy else { return }
    let before = ScratchFile.sound.bytes
    guard (try? FileRepair.repairInPlace(found)) == nil else {
      finding("a repair that was refused as a copy succeeded in place")
    }
    guard ScratchFile.sound.bytes == before else {
      finding("a refused repair changed the file")
    }
  }

  private static func check(_ found: RepairFinding) {
    guard let again = try? FileRepair.examine(ScratchFile.repaired.path) else {
      finding("a repaired file is refused")
    }
    guard !again.isRepairable, again.frames == found.frames else {
      finding("repaired: \(found.faults), \(found.frames); again: \(again.faults), \(again.frames)")
    }
  }
}
