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

/// The keyboard of a terminal, key by key and without echo, as long as it is in scope.
struct Keyboard: ~Copyable {
  /// What to read; nil where there is no keyboard.
  private let descriptor: Int32?
  private let isTerminal: Bool
  private let decoder = MutexBox(KeyDecoder())

  /// Takes the keyboard over, where there is one, while the program is in the foreground. With
  /// `readsPipe` a pipe will do.
  init(readsPipe: Bool = false) {
    isTerminal = Terminal.hasKeyboard
    descriptor = isTerminal || (readsPipe && Terminal.isPiped) ? STDIN_FILENO : nil
    if isTerminal { Self.take() }
  }

  deinit {
    if isTerminal { Self.giveBack() }
  }

  /// What to wait for now; nil where there is no keyboard, and in the background: a program that
  /// reads the terminal there is stopped. A shell that brought the program back to the foreground
  /// has set the terminal its own way; it is taken over again.
  var awaited: Int32? {
    guard isTerminal else { return descriptor }
    guard Terminal.isInForeground(STDIN_FILENO) else { return nil }
    Self.take()
    return descriptor
  }

  /// How it was before it was taken over.
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
  }

  /// Gives it back on any thread, where the program ends in the middle of something. From the
  /// background nothing is set: the terminal is the shell's there, and a program that sets it is
  /// stopped.
  static func giveBack() {
    guard Terminal.isInForeground(STDIN_FILENO), var saved = taken.withLock({ $0 }) else { return }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
  }

  /// What was pressed.
  enum Press {
    case key(Key)
    /// Nothing that means anything.
    case nothing
    /// The terminal was closed.
    case end
  }

  /// What was pressed, once there is something to read.
  func press() -> Press {
    // It may have been sent to the background since it was waited for.
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
