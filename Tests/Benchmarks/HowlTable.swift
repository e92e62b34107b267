import Dispatch
import RealtimeAudio
import TestSupport

/// Prints the results of feedback loops for each gain in `rooms` rooms: the number of loops that
/// the feedback suppressor ducks, and how long their output was above -20 dBFS after it had reached
/// the limit. Also prints how many loops with gains below 0 dB it ducks, for each kind of sound.
/// `first` is the seed of the first room.
func printHowls(rooms: Int, first: UInt64) {
  let seeds = first..<first + UInt64(max(1, rooms))
  print(
    "| gain | loops | ducked | loud for more than 0.3 s | in room | for, at most | highest sample |"
  )
  print("| ---: | ---: | ---: | ---: | :--- | ---: | ---: |")
  for gain in [0.1, 0.2, 0.5, 1, 2, 3, 6, 9, 12] {
    let results = results(seeds) { seed in
      var rig = LoopRig.room(seed, gainDB: gain)
      rig.sampleRate = 48000
      return rig.run(
        seconds: gain < 0.5 ? 40 : gain <= 1 ? 20 : 8, sound: rig.quiet(seed))
    }
    let pains = results.map(\.painSeconds)
    let cells = [
      "\(gain) dB", "\(results.count)", "\(results.count { !$0.ducks.isEmpty })",
      "\(pains.count { $0 > 0.3 })",
      zip(seeds, pains).filter { $0.1 > 0.3 }.map { "\($0.0)" }.joined(separator: ", "),
      "\((pains.max() ?? 0).shown(2)) s",
      "\(Double(results.map(\.highest).max() ?? 0).shown(4))",
    ]
    print("| " + cells.joined(separator: " | ") + " |")
  }
  print()
  print("| gain | sounds | mistaken for a howl | in room |")
  print("| ---: | ---: | ---: | :--- |")
  for gain in [nil, -12, -6, -3, -1, -0.5] as [Double?] {
    let mistaken = LoopSound.allCases.map { sound in
      let results = results(seeds) { seed in
        var rig = sound.room(seed, gainDB: gain)
        rig.sampleRate = 48000
        return rig.run(seconds: 12, sound: sound.make(seed, sampleRate: rig.sampleRate))
      }
      return zip(seeds, results).filter { !$0.1.ducks.isEmpty }.map(\.0)
    }
    let kinds = zip(LoopSound.allCases, mistaken).filter { !$0.1.isEmpty }.map { sound, rooms in
      "\(sound) \(rooms.map { "\($0)" }.joined(separator: ", "))"
    }
    let cells = [
      gain.map { "\($0) dB" } ?? "no loop", "\(seeds.count * mistaken.count)",
      "\(mistaken.map(\.count).reduce(0, +))", kinds.joined(separator: "; "),
    ]
    print("| " + cells.joined(separator: " | ") + " |")
  }
}

/// Returns the result of each room's run. As many runs are concurrent as there are processors.
private func results(
  _ seeds: Range<UInt64>, run: @Sendable (UInt64) -> LoopRig.Result
) -> [LoopRig.Result] {
  let results = MutexBox([LoopRig.Result?](repeating: nil, count: seeds.count))
  DispatchQueue.concurrentPerform(iterations: seeds.count) { index in
    let result = run(seeds.lowerBound + UInt64(index))
    results.withLock { $0[index] = result }
  }
  return results.withLock { $0.compactMap { $0 } }
}
