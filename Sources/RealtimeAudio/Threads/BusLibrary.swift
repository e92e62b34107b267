import Glibc

/// The calls of libdbus that one question needs, from a library that is loaded only when asked.
///
/// Not linked, because whoever is granted realtime priority directly never needs it, and it takes
/// memory. Once loaded it stays: it keeps state of its own that unloading would leak.
struct BusLibrary {
  typealias Connection = OpaquePointer
  typealias Message = OpaquePointer
  typealias Iterator = UnsafeMutableRawPointer

  let connect:
    @convention(c) (_ address: UnsafePointer<CChar>, _ error: UnsafeMutableRawPointer?)
      -> Connection?
  let setExitOnDisconnect: @convention(c) (Connection, _ isOn: UInt32) -> Void
  let isTrusted: @convention(c) (Connection) -> UInt32
  let exchange: @convention(c) (Connection, _ milliseconds: Int32) -> UInt32
  let close: @convention(c) (Connection) -> Void
  let releaseConnection: @convention(c) (Connection) -> Void
  let makeCall:
    @convention(c) (
      _ name: UnsafePointer<CChar>, _ path: UnsafePointer<CChar>,
      _ interface: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>
    ) -> Message?
  let send:
    @convention(c) (
      Connection, Message, _ milliseconds: Int32, _ error: UnsafeMutableRawPointer?
    ) -> Message?
  let releaseMessage: @convention(c) (Message) -> Void
  let beginAppending: @convention(c) (Message, Iterator) -> Void
  let append: @convention(c) (Iterator, _ type: Int32, _ value: UnsafeRawPointer) -> UInt32
  let beginReading: @convention(c) (Message, Iterator) -> UInt32
  let type: @convention(c) (Iterator) -> Int32
  let enter: @convention(c) (Iterator, _ inner: Iterator) -> Void
  let value: @convention(c) (Iterator, _ value: UnsafeMutableRawPointer) -> Void

  /// Nil where the library is missing, or not the one known here.
  init?() {
    guard let library = dlopen("libdbus-1.so.3", RTLD_NOW | RTLD_LOCAL),
      let connect = dlsym(library, "dbus_connection_open_private"),
      let setExitOnDisconnect = dlsym(library, "dbus_connection_set_exit_on_disconnect"),
      let isTrusted = dlsym(library, "dbus_connection_get_is_authenticated"),
      let exchange = dlsym(library, "dbus_connection_read_write"),
      let close = dlsym(library, "dbus_connection_close"),
      let releaseConnection = dlsym(library, "dbus_connection_unref"),
      let makeCall = dlsym(library, "dbus_message_new_method_call"),
      let send = dlsym(library, "dbus_connection_send_with_reply_and_block"),
      let releaseMessage = dlsym(library, "dbus_message_unref"),
      let beginAppending = dlsym(library, "dbus_message_iter_init_append"),
      let append = dlsym(library, "dbus_message_iter_append_basic"),
      let beginReading = dlsym(library, "dbus_message_iter_init"),
      let type = dlsym(library, "dbus_message_iter_get_arg_type"),
      let enter = dlsym(library, "dbus_message_iter_recurse"),
      let value = dlsym(library, "dbus_message_iter_get_basic")
    else { return nil }
    self.connect = Self.call(connect)
    self.setExitOnDisconnect = Self.call(setExitOnDisconnect)
    self.isTrusted = Self.call(isTrusted)
    self.exchange = Self.call(exchange)
    self.close = Self.call(close)
    self.releaseConnection = Self.call(releaseConnection)
    self.makeCall = Self.call(makeCall)
    self.send = Self.call(send)
    self.releaseMessage = Self.call(releaseMessage)
    self.beginAppending = Self.call(beginAppending)
    self.append = Self.call(append)
    self.beginReading = Self.call(beginReading)
    self.type = Self.call(type)
    self.enter = Self.call(enter)
    self.value = Self.call(value)
  }

  private static func call<Function>(_ symbol: UnsafeMutableRawPointer) -> Function {
    unsafeBitCast(symbol, to: Function.self)
  }
}
