/// Prints what becomes of loops of each gain in `rooms` rooms: how many the feedback guard ducks, and
/// for how long they were heard above -20 dBFS once they had come to the limit.
func printHowls(rooms: Int) {
  print("| gain | loops | ducked | loud for more than 0.3 s | for, at most | highest sample |")
  print("| ---: | ---: | ---: | ---: | ---: | ---: |")
  for gain in [0.5, 1, 2, 3, 6, 9, 12] {
    let results = (1...max(1, UInt64(rooms))).map { seed in
      var rig = LoopRig.room(seed, gainDB: gain)
      rig.sampleRate = 48000
      return rig.run(seconds: gain <= 1 ? 20 : 8, sound: rig.quiet(seed))
    }
    let pains = results.map(\.painSeconds)
    let cells = [
      "\(gain) dB", "\(results.count)", "\(results.count { !$0.ducks.isEmpty })",
      "\(pains.count { $0 > 0.3 })", "\((pains.max() ?? 0).shown(2)) s",
      "\(Double(results.map(\.highest).max() ?? 0).shown(4))",
    ]
    print("| " + cells.joined(separator: " | ") + " |")
  }
}
