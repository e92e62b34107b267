import Glibc
import RealtimeAudio

/// A key that was pressed.
enum Key: Equatable {
  case character(Character)
  case left, right, up, down
}

/// The keyboard of a terminal, key by key and without echo, as long as it is in scope.
struct Keyboard: ~Copyable {
  /// What to wait for; nil where there is no keyboard.
  let descriptor: Int32?
  private let isTerminal: Bool
  private var saved = termios()

  /// Takes the keyboard over, where there is one and the program is in the foreground. With
  /// `readsPipe` a pipe will do.
  init(readsPipe: Bool = false) {
    guard Terminal.hasKeyboard, tcgetpgrp(STDIN_FILENO) == getpgrp(),
      unsafe tcgetattr(STDIN_FILENO, &saved) == 0
    else {
      isTerminal = false
      descriptor = readsPipe && Terminal.isPiped ? STDIN_FILENO : nil
      return
    }
    isTerminal = true
    descriptor = STDIN_FILENO
    Self.taken.withLock { $0 = saved }
    var raw = saved
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
  }

  deinit {
    restore()
  }

  /// How it was before it was taken over.
  private static let taken = MutexBox<termios?>(nil)

  /// Gives it back on any thread, where the program ends in the middle of something.
  static func giveBack() {
    guard var saved = taken.withLock({ $0 }) else { return }
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
  }

  /// Gives it back as it was.
  func restore() {
    guard isTerminal else { return }
    var saved = saved
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
    guard let byte = byte() else { return .end }
    // An arrow comes as an escape, a bracket or an O, and a letter.
    guard byte == 0x1B, isMoreThere else { return .key(.character(Character(UnicodeScalar(byte)))) }
    guard let second = self.byte(), second == UInt8(ascii: "[") || second == UInt8(ascii: "O"),
      isMoreThere, let last = self.byte()
    else { return .nothing }
    switch last {
    case UInt8(ascii: "A"): return .key(.up)
    case UInt8(ascii: "B"): return .key(.down)
    case UInt8(ascii: "C"): return .key(.right)
    case UInt8(ascii: "D"): return .key(.left)
    default: return .nothing
    }
  }

  private func byte() -> UInt8? {
    guard let descriptor else { return nil }
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1 ? byte : nil
  }

  private var isMoreThere: Bool {
    guard let descriptor else { return false }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&waiting, 1, 20) == 1
  }
}
