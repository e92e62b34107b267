import Glibc

/// An error in reading or writing a sound file, in words for the user.
///
/// ```swift
/// do throws(FileFailure) {
///   _ = try SoundFileReader(path: "nowhere.wav")
/// } catch {
///   precondition(error.kind == .cannotOpen)
///   print(error.message, error.hint)
/// }
/// ```
public struct FileFailure: ExplainedFailure, Sendable, Equatable {
  /// The kind of a failure, which determines what to do next.
  public enum Kind: Sendable, Equatable {
    /// An input does not exist, or is not a file.
    case cannotOpen
    /// An input exists, but is damaged or does not support the request.
    case unusableContents
    /// An input exists, but is not audio of a known format.
    case unknownContents
    /// An output exists already, its folder does not exist, or the disk has no room for its
    /// beginning.
    case cannotCreate
    /// This user has no permission to read or write the file.
    case permissionDenied
    /// The file format cannot hold the request, there is no memory for it, or the file is read or
    /// written in a way that its state does not permit. Nothing was created.
    case invalidRequest
    /// The disk is full. The data that fit is saved.
    case diskFull
    /// The disk or the network failed during a read, or the opening was interrupted.
    case readFailed
    /// The disk failed during a write. The data written before is saved.
    case writeFailed
    /// The user stopped the operation. Nothing was changed.
    case interrupted
    /// The reader of the output has closed its end.
    case closedPipe
  }

  /// A remedy for a failure that depends on a choice of the caller, for programs with their own
  /// hints.
  public enum Remedy: Sendable, Equatable {
    /// Send a sound file through the pipe.
    case sendSound
    /// Send contents of a known kind through the pipe, or specify the format of raw samples.
    case describeSamples
    /// Specify the contents of a file whose header is lost: rate, channels and sample format.
    case describeLostHeader
    /// Choose another name, or replace the existing file.
    case overwrite
    /// Choose another name, or repair the damaged file itself.
    case repairInPlace
    /// Repair a copy.
    case repairCopy
    /// Make room, write elsewhere, or repair the damaged file itself.
    case makeRoom
    /// Continue in another file: this one can hold no more.
    case nextFile
    /// Use a ring of fewer seconds.
    case shortenRing
    /// Use a higher output rate, or a lower speed.
    case slowDown
  }

  /// The kind of the failure.
  public let kind: Kind
  /// One sentence that names the file and the problem.
  public let message: String

  /// One sentence that explains what to do.
  public let hint: String
  /// The remedy in `hint` as a value, if it is a choice of the caller.
  public let remedy: Remedy?

  /// Creates a failure of `kind` with its two sentences, and a `remedy` if a choice of the caller
  /// helps.
  public init(_ kind: Kind, _ message: String, hint: String, remedy: Remedy? = nil) {
    self.remedy = remedy
    self.kind = kind
    self.message = StandardInput.capitalized(message)
    self.hint = hint
  }
}

/// Returns the result of `call`; if it throws a system error, throws the failure that `failure`
/// makes of it.
func mapSystemError<Answer: ~Copyable>(
  _ call: @autoclosure () throws(SystemError) -> Answer,
  as failure: (SystemError) -> FileFailure
) throws(FileFailure) -> Answer {
  do throws(SystemError) {
    return try call()
  } catch {
    throw failure(error)
  }
}

/// Failures of opening, reading and writing, most of them made from a system error.
extension FileFailure {
  /// Returns the failure to open an input.
  static func opening(_ path: String, _ error: SystemError) -> FileFailure {
    let path = FileName.withoutUser(path)
    if error.isDenied {
      return FileFailure(
        .permissionDenied, "You may not read \(path).", hint: "Check its permissions with ls -l.")
    }
    switch error.number {
    case EISDIR: return .isFolder(path)
    case ESPIPE, ENXIO:
      return FileFailure(
        .cannotOpen, "\(path) is a pipe or a device, not a file.", hint: "Name a file on disk.")
    case ENOENT, ENOTDIR:
      return FileFailure(
        .cannotOpen, path.isEmpty ? "The name of a file is empty." : "There is no file \(path).",
        hint: path.contains("://")
          ? "Save what is at the address to a file first, and name that."
          : FileName.isMistypedAddress(path)
            ? "Write an address with two slashes: http://example.org/song.flac"
            : "Check the spelling of its name.")
    case EINVAL where path.utf8.contains(0):
      return FileFailure(
        .cannotOpen, "The name of a file cannot hold a zero byte.",
        hint: "Check the spelling of its name.")
    case EMFILE, ENFILE: return .tooManyOpen(path)
    default:
      return FileFailure(
        .cannotOpen, "\(path) cannot be opened: \(error.reason).",
        hint: "Check the file and the disk it is on.")
    }
  }

  /// Returns the failure to open the input `name`, a path or an address, because too many files are
  /// open.
  static func tooManyOpen(_ name: String) -> FileFailure {
    FileFailure(
      .cannotOpen, "\(name) cannot be opened: too many files are open already.",
      hint: "Play fewer files at once, or raise ulimit -n.")
  }

  /// The failure if standard input was closed before the program started, or is not usable as a
  /// file.
  static var closedInput: FileFailure {
    FileFailure(
      .cannotOpen, "Standard input is closed.",
      hint: "Send it a sound file.", remedy: .sendSound)
  }

  /// Returns the failure of an input from a pipe that is needed a second time.
  package static func readOnce(_ name: String) -> FileFailure {
    FileFailure(
      .invalidRequest, "\(name) comes through a pipe, and can be read only once.",
      hint: "Save it to a file first, and name that.")
  }

  /// Returns the failure of an input that is a folder.
  static func isFolder(_ path: String) -> FileFailure {
    FileFailure(.cannotOpen, "\(path) is a folder, not a sound file.", hint: "Name a file in it.")
  }

  /// Returns the failure to continue reading an input.
  static func reading(_ path: String, _ error: SystemError) -> FileFailure {
    FileFailure(
      .readFailed, "\(path) cannot be read on: \(error.reason).",
      hint: "Check the disk or the connection it is read from.")
  }

  /// Returns the failure to create an output that exists already and must not be replaced.
  package static func exists(_ path: String) -> FileFailure {
    FileFailure(
      .cannotCreate, "\(path) exists already.", hint: "Choose another name, or replace it.",
      remedy: .overwrite)
  }

  /// Returns the failure to create an output.
  static func creating(_ path: String, _ error: SystemError) -> FileFailure {
    let path = FileName.withoutUser(path)
    if error.isDenied {
      return FileFailure(
        .permissionDenied, "You may not write \(path).",
        hint: "Choose a folder that is yours, or check the permissions with ls -l.")
    }
    if error.number == ENOSPC, DiskSpace.holdsNoMoreFiles(at: FileName.folder(of: path)) {
      return FileFailure(
        .cannotCreate, "\(path) cannot be created: its disk has space, but no room for more files.",
        hint: "Delete files that are not needed, however small, or choose another disk.")
    }
    if error.isFullDisk {
      return FileFailure(
        .cannotCreate, "\(path) cannot be created: the disk is full.",
        hint: "Make room, or choose another disk.")
    }
    if error.number == EEXIST { return exists(path) }
    let (message, hint) = explanation(of: error, creating: path)
    return FileFailure(.cannotCreate, message, hint: hint)
  }

  /// Returns what is wrong with an output that cannot be created, and what to do.
  private static func explanation(
    of error: SystemError, creating path: String
  ) -> (message: String, hint: String) {
    switch error.number {
    case ENOLINK:
      ("\(path) is a link that leads nowhere.", "Remove it, or choose another name.")
    case ESPIPE:
      ("\(path) is a pipe or a device, which no file takes the place of.", "Choose another name.")
    case EWOULDBLOCK:
      (
        "\(path) is being written by another program.",
        "Wait until that has ended, or choose another name."
      )
    case EISDIR where FileStatus(of: path)?.isFolder != true:
      ("\(path) ends with a slash, like a folder.", "Leave out the slash to name a file.")
    case EISDIR: ("\(path) is a folder.", "Name a file in it.")
    case ENOENT where path.isEmpty: ("The name of the file is empty.", "Name a file.")
    case ENOENT where FileName.isAddress(path):
      ("\(path) is an address, where nothing can be written.", "Name a file.")
    case ENOENT where FileStatus(of: FileName.folder(of: path))?.isRemoved == true:
      (
        "\(path) cannot be created: its folder was removed.",
        "Change to another folder, or name a file in one."
      )
    case ENOENT where FileStatus(of: FileName.folder(of: path))?.isFolder == true:
      ("\(path) cannot be created: its folder takes no new files.", "Choose another folder.")
    case ENOENT where path.hasPrefix("~/"):
      (
        "\(path) cannot be created: there is no folder ~ here.",
        "Only a shell replaces ~ by the home folder: give the whole path."
      )
    case ENOENT, ENOTDIR:
      (
        "\(path) cannot be created: its folder does not exist.",
        "Create the folder first, or choose another."
      )
    case ENXIO where FileStatus(of: path)?.isSocket == true:
      ("\(path) is a socket, not a file or a pipe.", "Choose another name.")
    case ENXIO: ("No program reads the pipe \(path).", "Start its reader first.")
    case EINVAL where path.utf8.contains(0):
      ("The name of a file cannot hold a zero byte.", "Choose another name.")
    case EFBIG:
      (
        "\(path) cannot be created: \(error.reason).",
        "Raise the limit with ulimit -f, or choose another disk."
      )
    case EROFS:
      ("\(path) cannot be written: its disk is read-only.", "Choose another disk.")
    case EMFILE, ENFILE:
      (
        "\(path) cannot be created: too many files are open.",
        "Raise the limit with ulimit -n, or close other programs."
      )
    default: ("\(path) cannot be created: \(error.reason).", "Choose another name.")
    }
  }

  /// Returns the failure of an output that the user stopped.
  public static func interrupted(_ path: String) -> FileFailure {
    FileFailure(
      .interrupted,
      "Stopped before \(path) was complete: its draft is removed, and what was there before stays.",
      hint: "Start it again when there is time for it.")
  }

  /// Returns the failure to continue writing an output. `saved` describes its contents in words.
  static func writing(_ path: String, _ error: SystemError, saved: String) -> FileFailure {
    if error.isFullDisk {
      return FileFailure(
        .diskFull, "The disk is full: \(path) holds \(saved).",
        hint: "Make room, or use another disk.")
    }
    switch error.number {
    case EPIPE:
      return FileFailure(
        .closedPipe, "The program that read \(path) has stopped reading.",
        hint: "Check the program at the other end of the pipe.")
    case EFBIG:
      return FileFailure(
        .writeFailed, "\(path) has reached the largest size allowed: it holds \(saved).",
        hint: "Go on in a new file, or use a file system for large files.", remedy: .nextFile)
    default:
      return FileFailure(
        .writeFailed, "\(path) cannot be written on: \(error.reason); it holds \(saved).",
        hint: "Check the disk.")
    }
  }
}
