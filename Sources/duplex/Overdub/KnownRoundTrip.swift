/// A round trip whose length is known.
struct KnownRoundTrip {
  /// The origin of the length.
  enum Source: String {
    case given, file, saved, measured
  }

  /// The length in frames. The frames that a device adds by delivering in steps are included only
  /// in a round trip that the user gave.
  let frames: Double
  let source: Source
}
