/// The arrivals of a signal in a recording: their fit, their likelihood and the estimate.
struct Placement {
  var estimate: DelayEstimate
  var match: Match
  var fit: Match.Outcome
  /// The index of the arrival whose delay is the result.
  var chosen: Int
  /// The natural logarithm of the likelihood ratio of the recording with and without the arrivals.
  var likelihood: Double
}

/// The arrivals of a signal stretched by the difference between two clocks.
struct DriftedPlacement {
  var placement: Placement
  var search: ArrivalSearch
  var stretched: [Float]
  /// The frames by which the signal is longer in the recording.
  var stretch: Double
  /// The remaining drift, if it can be measured.
  var drift: ClockDrift?
  /// Whether there may be a drift that was rejected: one that explains the recording nearly as well
  /// as the echoes do, or one that was measured but did not increase the likelihood.
  var isContested = false
}

extension DelayEstimator {
  /// The logarithm of likelihood by which one explanation must exceed another, and the factor by
  /// which it must exceed the whole, since a real room has more echoes than the few that are
  /// fitted.
  private static let decisive = 10.0
  private static let decisiveShare = 1.005
  /// The least number of arrivals that may be the effect of a drift.
  private static let arrivalsOfDrift = 3
  /// The drift in frames that moves the delay by half a frame.
  private static let harmlessFrames = 1.0

  /// Returns drift and arrivals of `reference`. `found` is its position without drift. Returns nil
  /// if the signal is not found.
  func drifted(
    _ reference: Span<Float>, in recording: Span<Float>, _ found: ArrivalSearch, lags: Range<Int>,
    _ excerpt: borrowing Excerpt
  ) -> DriftedPlacement? {
    var search = found
    // Stretch the reference until no drift remains.
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

  /// Returns whether a drift that was measured, but rejected because it did not increase the
  /// likelihood, may still exist, hidden in apparent echoes, and move the delay by more than half a
  /// frame.
  private static func isHidden(_ drift: ClockDrift?, behind placement: Placement) -> Bool {
    guard let drift else { return false }
    return abs(drift.frames) > harmlessFrames
      && placement.estimate.arrivals.count >= arrivalsOfDrift
  }

  /// Uses echoes without a drift instead if they explain the recording better. Each frequency of a
  /// sweep occurs at one time only, so the effect of an echo on some frequencies looks like a
  /// drift.
  ///
  /// If a drift makes the parts of the spectrum, each with its own phase, much more coherent
  /// (`Coherence`), it cannot be an echo, and no echo is tried.
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

  /// Estimates arrivals and drift in turns, each with the other removed, as the RELAX algorithm
  /// does for arrivals. Echoes that were treated as noise hide a drift.
  ///
  /// A drift is accepted if it increases the likelihood of the recording and the coherence of the
  /// parts of its spectrum. A further echo could not do the latter, since within a part it rotates
  /// all phases alike.
  private func refineDrift(
    _ best: inout DriftedPlacement, _ reference: Span<Float>, _ excerpt: borrowing Excerpt
  ) {
    guard best.placement.estimate.arrivals.count > 1 || best.stretch != 0 else { return }
    var isolated = best.placement.match.isolated(best.placement.fit, best.placement.chosen)
    for _ in 0..<4 {
      best.drift = ClockDrift(
        best.stretched.span, weighted: excerpt.transform.signal(of: isolated.bins), lag: 0,
        farthest: max(2, best.placement.fit.fit.lobe / 4))
      guard let step = best.drift, step.isMeasured else { return }
      let longer = ClockDrift.stretched(reference, by: best.stretch + step.frames)
      let delay = best.placement.estimate.delayFrames - step.frames / 2
      guard let next = place(longer.span, in: excerpt, best.search, near: delay) else { return }
      let nextIsolated = next.match.isolated(next.fit, next.chosen)
      guard next.likelihood > best.placement.likelihood + Self.decisive,
        nextIsolated.likelihood > Self.decisiveShare * isolated.likelihood + Self.decisive
      else {
        best.isContested = best.isContested || Self.isHidden(step, behind: best.placement)
        best.drift = nil
        return
      }
      (best.placement, best.stretched, isolated) = (next, longer, nextIsolated)
      best.stretch += step.frames
    }
  }
}
