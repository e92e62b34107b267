extension Machine {
  /// Everything that was found, worst first. `wakeUps` is asked for when all else was looked at; it is
  /// nil where the sample did not come to an end.
  public func findings(wakeUps: @autoclosure () -> WakeUpSample?) -> [Finding] {
    let found =
      CardChecks(self).findings + USBChecks(self).findings + ServerChecks(self).findings
      + KernelChecks(self).findings + PowerChecks(self).findings
      + PriorityChecks(self, wakeUps()).findings
    return Finding.Weight.allCases.flatMap { weight in found.filter { $0.weight == weight } }
  }
}
