import Glibc

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
  func key() -> Character? {
    guard let descriptor else { return nil }
    var byte: UInt8 = 0
    guard unsafe read(descriptor, &byte, 1) == 1 else { return nil }
    return Character(UnicodeScalar(byte))
  }
}
