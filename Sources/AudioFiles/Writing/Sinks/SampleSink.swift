/// Where a writer's samples go: one way of laying out a file. Let go of, it completes the file, but
/// only `close` tells whether it could.
protocol SampleSink: AnyObject {
  /// Frames written; after a failure those that are in the file.
  var frameCount: Int { get }

  /// Whether what is in the file by now can be read by others.
  var isReadable: Bool { get }

  /// What the kernel knows the file by.
  var descriptor: Int32 { get }

  /// What the file says beside its sound; a format that cannot say it ignores it.
  var notes: RecordingNotes { get set }

  /// Appends frames. `scratch` has room for as many, at four bytes a sample.
  ///
  /// When it throws, what was written before can still be read, and some of these frames may be, too.
  func append(
    _ samples: UnsafePointer<Float>, frames: Int, scratch: UnsafeMutableRawPointer
  ) throws(SystemError)

  /// Makes the file valid as it stands. Cheap, and changes nothing where nothing was written.
  func refresh() throws(SystemError)

  /// Waits until all that was handed on is on the disk.
  func synchronize() throws(SystemError)

  /// Completes and closes the file.
  func close() throws(SystemError)
}
