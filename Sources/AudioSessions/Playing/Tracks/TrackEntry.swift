/// Where a track's converter begins, so that its first frame that is heard lies exactly where it was
/// asked for: some frames earlier, which give the converter's filter a past.
struct TrackEntry {
  /// The boundary of the file that is read first.
  let boundary: Int
  /// Frames of the unit that are left out.
  let leadFrames: Int

  /// The entry for a converter whose rates have the ratio `fileStep` to `unitStep` in lowest terms,
  /// so that what is heard begins at `place`, a boundary of a file of `frameCount` frames, backwards
  /// or forwards. At least `earlyFrames` frames of the unit are left out where there are so many.
  init(
    at place: Double, isReversed: Bool, frameCount: Int?, fileStep: Int, unitStep: Int,
    earlyFrames: Int
  ) {
    let ratio = Double(fileStep) / Double(unitStep)
    let past = isReversed ? Double(frameCount ?? Int(clamping: place)) - place : place
    let longest = max(0, Int(clamping: past / ratio))
    // Among a whole round of the two rates one place falls on a frame of the file.
    let latest = min(longest, earlyFrames)
    var best = (lead: 0, error: Double.infinity)
    for lead in stride(from: latest, through: max(0, latest - min(unitStep, 4096)), by: -1) {
      let exact = isReversed ? place + Double(lead) * ratio : place - Double(lead) * ratio
      let error = abs(exact - exact.rounded())
      if error < best.error - 1e-6 { best = (lead, error) }
      if error < 1e-6 { break }
    }
    leadFrames = best.lead
    let exact =
      isReversed ? place + Double(best.lead) * ratio : place - Double(best.lead) * ratio
    boundary = max(0, Int(rounding: exact))
  }
}
