import AudioBasics
import AudioDevices
import AudioFiles
import AudioSessions
import Glibc
import RealtimeAudio

/// Work that competes with the audio thread as other programs do: it keeps every processor busy,
/// and writes to a disk and waits for it. Lasts until it goes out of scope.
public final class SystemLoad {
  private var work: [LoadWork] = []
  private var threads: [BackgroundThread] = []

  /// The default folder for the disk load, which is not in memory, as /tmp may be.
  public static var defaultFolder: String { FileName.variable("TMPDIR") ?? "/var/tmp" }

  /// Starts the load. The disk load is written to a file in `folder` with a random name, which is
  /// removed at the end. Throws if the system refuses a thread or the file.
  public init(folder: String) throws(DeviceFailure) {
    let processors = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    let path = "\(folder)/duplex-load-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    do throws(FileFailure) {
      _ = try LoadWork.file(path)
    } catch {
      throw DeviceFailure(
        .refused, "The disk cannot be loaded: \(error.message)",
        hint: "Name another folder; TMPDIR names the default one.")
    }
    work = (0..<processors).map { _ in LoadWork(.arithmetic) } + [LoadWork(.disk(path))]
    for part in work { threads.append(try BackgroundThread(part, name: "duplex-load")) }
  }

  deinit {
    for part in work { part.conclude() }
    for thread in threads { thread.join() }
  }
}

/// The work of one thread of a `SystemLoad`: arithmetic, or writing to the disk.
private final class LoadWork: BackgroundWork {
  enum Kind {
    case arithmetic
    case disk(String)
  }

  private let kind: Kind
  private let over = AtomicFlag()

  init(_ kind: Kind) { self.kind = kind }

  func conclude() { over.raise() }

  func step() -> Bool {
    switch kind {
    case .arithmetic: compute()
    case .disk(let path): write(path)
    }
    return false
  }

  private func compute() {
    var word: UInt64 = 1
    while !over.isRaised {
      // Only arithmetic, so that it competes for the processor, not for the cache.
      for _ in 0..<100_000 { word = word &* 6_364_136_223_846_793_005 &+ 1 }
      if word == 0 { return }
    }
  }

  /// Creates a file that never gets its name and is removed when it is closed.
  static func file(_ path: String) throws(FileFailure) -> SoundFileWriter {
    try SoundFileWriter(
      path: path, fileFormat: .raw, sampleFormat: .float, sampleRate: 48000, channelCount: 1,
      overwrite: false, appearance: .finished)
  }

  private func write(_ path: String) {
    var block = SampleBuffer(frameCount: 262_144, channelCount: 1)
    for index in 0..<block.sampleCount { block[index] = Float(index % 100) / 100 }
    while !over.isRaised {
      guard var file = try? Self.file(path) else { return }
      for _ in 0..<16 where !over.isRaised {
        guard (try? file.write(block, frames: block.frameCount)) != nil,
          (try? file.synchronize()) != nil
        else { break }
      }
    }
  }
}
