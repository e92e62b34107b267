import AudioDevices
import AudioFiles
import AudioSessions
import RealtimeAudio

/// The recordings of a running engine: at most one of the microphone and one of the output. Belongs
/// to the engine's thread.
final class EngineRecordings {
  private typealias Source = RecordingSettings.Source

  /// A recording whose recorder is installed on the mixer, or is being transferred to or from it.
  private struct Active {
    let recording: EngineRecording
    let writer: RecordingWriter
    var isEnding = false
  }

  private let worker: EngineWorker
  private let work: SharedWork
  private var active: [Source: Active] = [:]
  /// Recordings whose last frames are being written to disk.
  private var finishing: [Active] = []
  /// Sources whose recorder is being exchanged.
  private var exchanging: Set<Source> = []

  init(_ worker: EngineWorker, _ work: SharedWork) {
    self.worker = worker
    self.work = work
  }

  /// Whether nothing is recorded.
  var isEmpty: Bool { active.isEmpty }

  /// Begins a recording before audio runs. If it cannot begin, it is completed with an empty report
  /// and the failure is thrown.
  func beginFirst(
    _ recording: EngineRecording, _ configuration: DuplexConfiguration, isVirtual: Bool,
    on parts: inout MixerParts
  ) throws(EngineFailure) {
    let writer: RecordingWriter
    do throws(EngineFailure) {
      writer = try added(recording, configuration, isVirtual: isVirtual)
    } catch {
      var report = RecordingReport()
      if case .file(let failure) = error { report.failure = failure }
      recording.complete(report)
      worker.events.send(.recordingFinished(report))
      throw error
    }
    parts[recording.settings.source] = writer.takeRecorder()
  }

  /// Begins a recording while audio runs.
  func begin(
    _ recording: EngineRecording, _ configuration: DuplexConfiguration, isVirtual: Bool,
    _ handoffs: borrowing MixerHandoffs, _ answer: EngineRequest.RecordCompletion
  ) {
    let source = recording.settings.source
    guard active[source] == nil, !exchanging.contains(source) else {
      return answer(.failure(.alreadyRecording(source)))
    }
    do throws(EngineFailure) {
      let writer = try added(recording, configuration, isVirtual: isVirtual)
      handoffs.replace(source, by: writer.takeRecorder())
      exchanging.insert(source)
      answer(.success(()))
    } catch {
      answer(.failure(error))
    }
  }

  private func added(
    _ recording: EngineRecording, _ configuration: DuplexConfiguration, isVirtual: Bool
  ) throws(EngineFailure) -> RecordingWriter {
    let source = recording.settings.source
    guard active[source] == nil else { throw .alreadyRecording(source) }
    let path = recording.path
    let place = FileLocation(of: path)
    guard !active.values.contains(where: { FileLocation(of: $0.recording.path) == place }) else {
      throw .file(
        FileFailure(
          .cannotCreate, "\(path) is being recorded to already.", hint: "Choose another name."))
    }
    let writer = try recording.begin(configuration, isVirtual: isVirtual)
    try work.add(writer)
    active[source] = Active(recording: recording, writer: writer)
    worker.events.send(.recordingStarted(path: recording.path))
    return writer
  }

  /// Ends `recording` as soon as its recorder can be fetched.
  func end(_ recording: EngineRecording, _ handoffs: borrowing MixerHandoffs) {
    let source = recording.settings.source
    guard active[source]?.recording === recording else { return }
    active[source]?.isEnding = true
    poll(handoffs)
  }

  /// Fetches the recorders that have ended, and reports the recordings that are complete.
  func poll(_ handoffs: borrowing MixerHandoffs) {
    deliverEvents()
    for source in exchanging {
      guard var replaced = handoffs[source].takeReplaced() else { continue }
      exchanging.remove(source)
      finish(&replaced.value, source)
    }
    for (source, one) in active where !exchanging.contains(source) {
      // A file that can no longer be written is complete with its present content.
      guard one.isEnding || one.writer.isFailed else { continue }
      handoffs.replace(source, by: nil)
      exchanging.insert(source)
    }
    reportFinished()
  }

  /// Passes the events of all recordings to their streams and handlers.
  func deliverEvents() {
    for one in finishing { one.recording.deliverEvents() }
    for one in active.values { one.recording.deliverEvents() }
  }

  private func finish(_ recorder: inout Recorder?, _ source: Source) {
    guard recorder != nil, let one = active.removeValue(forKey: source) else { return }
    recorder?.finish()
    finishing.append(one)
  }

  private func reportFinished() {
    let done = finishing.filter { work.isDone($0.writer) }
    guard !done.isEmpty else { return }
    finishing.removeAll { work.isDone($0.writer) }
    for one in done { complete(one) }
  }

  private func complete(_ one: Active) {
    work.finish(one.writer)
    one.recording.complete(one.writer.report)
    worker.events.send(.recordingFinished(one.writer.report))
  }

  /// Finishes the recorders that a session returned at its end, and installs on `parts` those that
  /// did not reach the session's mixer.
  func settle(_ parts: inout MixerParts, _ handoffs: borrowing MixerHandoffs) {
    for source in exchanging {
      if var replaced = handoffs[source].takeReplaced() { finish(&replaced.value, source) }
      if var undelivered = handoffs[source].takeUndelivered() {
        swap(&parts[source], &undelivered.value)
        finish(&undelivered.value, source)
      }
    }
    exchanging = []
  }

  /// Ends all recordings with the data received so far, since the device hangs and keeps the
  /// recorders.
  func abandon() {
    for one in active.values { one.writer.abandon() }
    finishing += active.values
    active = [:]
  }

  /// Waits until all recordings are complete. Called after the last session, whose recorders are
  /// finished.
  func finishAll() {
    finishing += active.values
    active = [:]
    while !finishing.isEmpty {
      // In real time, each piece of work has a separate thread, and this does nothing.
      _ = work.step()
      deliverEvents()
      reportFinished()
      if !finishing.isEmpty { HostClock.pause(milliseconds: 1) }
    }
  }
}

extension MixerHandoffs {
  /// The handoff of the recorder of a source.
  fileprivate subscript(source: RecordingSettings.Source) -> Handoff<Recorder> {
    _read {
      switch source {
      case .microphone: yield inputRecorder
      case .output: yield outputRecorder
      }
    }
  }

  /// Makes the mixer replace the recorder of a source; nil removes it.
  fileprivate func replace(
    _ source: RecordingSettings.Source, by recorder: consuming Recorder?
  ) {
    self[source].send(recorder)
    signalChange()
  }
}

extension MixerParts {
  /// The recorder of a source.
  fileprivate subscript(source: RecordingSettings.Source) -> Recorder? {
    _read {
      switch source {
      case .microphone: yield inputRecorder
      case .output: yield outputRecorder
      }
    }
    _modify {
      switch source {
      case .microphone: yield &inputRecorder
      case .output: yield &outputRecorder
      }
    }
  }

  /// Finishes and removes both recorders.
  mutating func finishRecorders() {
    for source in [RecordingSettings.Source.microphone, .output] {
      self[source]?.finish()
      self[source] = nil
    }
  }
}
