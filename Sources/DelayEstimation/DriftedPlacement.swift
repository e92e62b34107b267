/// The arrivals of a signal in a recording: their fit, their likelihood and the estimate.
struct Placement {
  var estimate: DelayEstimate
  var match: Match
  var fit: Match.Outcome
  /// The index of the arrival that is the answer.
  var chosen: Int
  /// How much likelier the recording is with the arrivals in it: a natural logarithm.
  var likelihood: Double
}

/// The arrivals of a signal that was stretched by what two clocks differ.
struct DriftedPlacement {
  var placement: Placement
  var search: ArrivalSearch
  var stretched: [Float]
  /// Frames by which the signal lasts longer in the recording.
  var stretch: Double
  /// The drift that is left, where it can be told.
  var drift: ClockDrift?
  /// Whether there may be a drift that was not taken: one that would explain the recording nearly
  /// as well as the echoes do, or that was measured and made the recording no likelier.
  var isContested = false
}

extension DelayEstimator {
  /// A logarithm of likelihood by which one explanation must exceed another, besides a share of the
  /// whole, since no room is made of a few echoes only.
  private static let decisive = 10.0
  private static let decisiveShare = 1.005
  /// The least number of arrivals that a drift may have been taken for.
  private static let arrivalsOfDrift = 3
  /// Frames of a drift that move the delay by half a frame.
  private static let harmlessFrames = 1.0

  /// Drift and arrivals of `reference`, `found` being where it is without drift.
  func drifted(
    _ reference: Span<Float>, in recording: Span<Float>, _ found: ArrivalSearch, lags: Range<Int>,
    _ excerpt: borrowing Excerpt
  ) -> DriftedPlacement? {
    var search = found
    // The reference is stretched until it drifts no more.
    var stretched = reference.indices.map { reference[$0] }
    var stretch = 0.0
    var drift = ClockDrift(reference, search)
    var rounds = 0
    var refused: ClockDrift?
    while let step = drift, step.isSignificant, rounds < 5 {
      let longer = ClockDrift.stretched(reference, by: stretch + step.frames)
      guard let next = ArrivalSearch(reference: longer.span, recording: recording, lags: lags),
        next.likelihood > search.likelihood + Self.decisive
      else {
        refused = step
        break
      }
      (stretched, search, stretch) = (longer, next, stretch + step.frames)
      drift = ClockDrift(stretched.span, search)
      rounds += 1
    }
    guard let placed = place(stretched.span, in: excerpt, search, near: Double(search.lag))
    else { return nil }
    var best = DriftedPlacement(
      placement: placed, search: search, stretched: stretched, stretch: stretch, drift: drift,
      isContested: Self.isHidden(refused, behind: placed))
    preferEchoes(&best, reference, found, excerpt)
    refineDrift(&best, reference, excerpt)
    return best
  }

  /// Whether a drift that was measured, and not taken since the recording became no likelier by it,
  /// may be there all the same, taken for echoes, and move the delay by more than half a frame.
  private static func isHidden(_ drift: ClockDrift?, behind placement: Placement) -> Bool {
    guard let drift else { return false }
    return abs(drift.frames) > harmlessFrames
      && placement.estimate.arrivals.count >= arrivalsOfDrift
  }

  /// Takes echoes without a drift instead, where they explain the recording better: each frequency
  /// of a sweep is there at one time only, so that what an echo does to some frequencies looks like
  /// a drift.
  ///
  /// Where a drift makes the parts of the spectrum, each with a phase of its own, much more
  /// coherent (`Coherence`), no echo can be mistaken for it, and none is tried.
  private func preferEchoes(
    _ best: inout DriftedPlacement, _ reference: Span<Float>, _ found: ArrivalSearch,
    _ excerpt: borrowing Excerpt
  ) {
    guard best.stretch != 0, best.search.likelihood < 1.1 * found.likelihood,
      let still = place(reference, in: excerpt, found, near: Double(found.lag)),
      still.likelihood > best.placement.likelihood
    else { return }
    let isContested =
      best.isContested
      || still.likelihood < Self.decisiveShare * best.placement.likelihood + Self.decisive
    best = DriftedPlacement(
      placement: still, search: found, stretched: reference.indices.map { reference[$0] },
      stretch: 0, drift: nil, isContested: isContested)
  }

  /// Finds arrivals and drift in turns, each with the other taken out, as the RELAX algorithm does
  /// arrivals: echoes that were taken for noise hide a drift.
  ///
  /// A drift is taken where the recording becomes likelier by it, and the parts of its spectrum
  /// more coherent: that no further echo could do, since within a part it turns all phases alike.
  private func refineDrift(
    _ best: inout DriftedPlacement, _ reference: Span<Float>, _ excerpt: borrowing Excerpt
  ) {
    guard best.placement.estimate.arrivals.count > 1 || best.stretch != 0 else { return }
    var alone = best.placement.match.alone(best.placement.fit, best.placement.chosen)
    for _ in 0..<4 {
      best.drift = ClockDrift(
        best.stretched.span, weighted: excerpt.transform.signal(of: alone.bins), lag: 0,
        farthest: max(2, best.placement.fit.fit.lobe / 4))
      guard let step = best.drift, step.isMeasured else { return }
      let longer = ClockDrift.stretched(reference, by: best.stretch + step.frames)
      let delay = best.placement.estimate.delayFrames - step.frames / 2
      guard let next = place(longer.span, in: excerpt, best.search, near: delay) else { return }
      let nextAlone = next.match.alone(next.fit, next.chosen)
      guard next.likelihood > best.placement.likelihood + Self.decisive,
        nextAlone.likelihood > Self.decisiveShare * alone.likelihood + Self.decisive
      else {
        best.isContested = best.isContested || Self.isHidden(step, behind: best.placement)
        best.drift = nil
        return
      }
      (best.placement, best.stretched, alone) = (next, longer, nextAlone)
      best.stretch += step.frames
    }
  }
}
