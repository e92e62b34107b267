import Glibc
import RealtimeAudio

/// A key that was pressed.
enum Key: Hashable, ExpressibleByExtendedGraphemeClusterLiteral {
  case character(Character)
  case left, right, up, down

  init(extendedGraphemeClusterLiteral character: Character) {
    self = .character(character)
  }
}

/// The keyboard of a terminal, read key by key and without echo during the lifetime of this value.
/// The terminal marks pasted text, so that its letters are not taken for keys.
struct Keyboard: ~Copyable {
  /// The descriptor to read from; nil if there is no keyboard.
  private let descriptor: Int32?
  private let isTerminal: Bool
  private let decoder = MutexBox(KeyDecoder())

  /// Switches the terminal to single keys, if there is one and the program is in the foreground.
  /// With `readsPipe` a pipe is read as well.
  init(readsPipe: Bool = false) {
    isTerminal = Terminal.hasKeyboard
    descriptor = isTerminal || (readsPipe && Terminal.isPiped) ? STDIN_FILENO : nil
    if isTerminal { Self.take() }
  }

  deinit {
    if isTerminal { Self.restoreTerminal() }
  }

  /// The descriptor to wait for; nil if there is no keyboard, and in the background, where a
  /// program that reads the terminal is stopped. A shell that returns the program to the foreground
  /// has set its own mode, so the mode is set again.
  var awaited: Int32? {
    guard isTerminal else { return descriptor }
    guard Terminal.isInForeground(STDIN_FILENO) else { return nil }
    Self.take()
    return descriptor
  }

  /// The mode of the terminal before it was changed; nil if it was not.
  private static let taken = MutexBox<termios?>(nil)

  private static func take() {
    var mode = termios()
    let lineByLine = tcflag_t(ICANON | ECHO)
    guard Terminal.isInForeground(STDIN_FILENO), unsafe tcgetattr(STDIN_FILENO, &mode) == 0,
      mode.c_lflag & lineByLine != 0
    else { return }
    let found = mode
    taken.withLock { $0 = found }
    mode.c_lflag &= ~lineByLine
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &mode)
    Terminal.markPastes(true)
  }

  /// Restores the mode of the terminal. Any thread, also when the program ends abruptly. In the
  /// background nothing is set: the terminal belongs to the shell, and a program that sets it is
  /// stopped.
  static func restoreTerminal() {
    guard Terminal.isInForeground(STDIN_FILENO), var saved = taken.withLock({ $0 }) else { return }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
    Terminal.markPastes(false)
  }

  /// The result of reading the keyboard.
  enum Press {
    case key(Key)
    /// No key with a meaning was pressed.
    case nothing
    /// The terminal was closed.
    case end
  }

  /// Reads the key that was pressed. Call it when the descriptor is readable.
  func press() -> Press {
    // The program may have been sent to the background during the wait.
    guard !isTerminal || Terminal.isInForeground(STDIN_FILENO) else { return .nothing }
    repeat {
      guard let byte = byte() else { return .end }
      if let key = decoder.withLock({ $0.key(byte, at: HostClock.seconds) }) { return .key(key) }
    } while isMoreThere
    return .nothing
  }

  private func byte() -> UInt8? {
    guard let descriptor else { return nil }
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1 ? byte : nil
  }

  private var isMoreThere: Bool {
    guard let descriptor else { return false }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waiting, 1, 0) == 1
  }
}
