import Glibc

/// A key that was pressed.
enum Key: Equatable {
  case character(Character)
  case left, right, up, down
}

/// The keyboard of a terminal, key by key and without echo, as long as it is in scope.
struct Keyboard: ~Copyable {
  /// What to wait for; nil where nobody types.
  let descriptor: Int32?
  private var saved = termios()

  /// Takes the keyboard over, where there is one and the program is in the foreground.
  init() {
    guard Terminal.hasKeyboard, tcgetpgrp(STDIN_FILENO) == getpgrp(),
      unsafe tcgetattr(STDIN_FILENO, &saved) == 0
    else {
      descriptor = nil
      return
    }
    descriptor = STDIN_FILENO
    var raw = saved
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &raw)
  }

  deinit {
    restore()
  }

  /// Gives it back as it was.
  func restore() {
    guard descriptor != nil else { return }
    var saved = saved
    unsafe tcsetattr(STDIN_FILENO, TCSANOW, &saved)
  }

  /// The key that was pressed, when one was.
  func key() -> Key? {
    guard let byte = byte() else { return nil }
    // An arrow comes as an escape, a bracket or an O, and a letter.
    guard byte == 0x1B, isMoreThere else { return .character(Character(UnicodeScalar(byte))) }
    guard let second = self.byte(), second == UInt8(ascii: "[") || second == UInt8(ascii: "O"),
      isMoreThere, let last = self.byte()
    else { return nil }
    switch last {
    case UInt8(ascii: "A"): return .up
    case UInt8(ascii: "B"): return .down
    case UInt8(ascii: "C"): return .right
    case UInt8(ascii: "D"): return .left
    default: return nil
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
