/// A place in a sound file that has a name.
public struct SoundFileMarker: Sendable, Equatable {
  /// The frame it stands before, the first one being 0.
  public var frame: Int
  /// What it is called.
  public var label: String

  /// A marker before `frame`.
  public init(frame: Int, label: String) {
    self.frame = frame
    self.label = label
  }
}
