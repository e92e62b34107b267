import Glibc

/// The calls of libdbus that questions and their answers need, from a library that is loaded only when asked.
///
/// Not linked, because a user who is granted realtime priority directly never needs it, and it takes
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
  let next: @convention(c) (Iterator) -> UInt32
  let takeMessage: @convention(c) (Connection) -> Message?
  let messageType: @convention(c) (Message) -> Int32
  let interface: @convention(c) (Message) -> UnsafePointer<CChar>?
  let member: @convention(c) (Message) -> UnsafePointer<CChar>?
  let makeReturn: @convention(c) (Message) -> Message?
  let makeError:
    @convention(c) (Message, _ name: UnsafePointer<CChar>, _ text: UnsafePointer<CChar>) -> Message?
  let post: @convention(c) (Connection, Message, _ serial: UnsafeMutablePointer<UInt32>?) -> UInt32
  let open:
    @convention(c) (
      Iterator, _ type: Int32, _ signature: UnsafePointer<CChar>?, _ inner: Iterator
    ) -> UInt32
  let closeContainer: @convention(c) (Iterator, _ inner: Iterator) -> UInt32

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
      let value = dlsym(library, "dbus_message_iter_get_basic"),
      let next = dlsym(library, "dbus_message_iter_next"),
      let takeMessage = dlsym(library, "dbus_connection_pop_message"),
      let messageType = dlsym(library, "dbus_message_get_type"),
      let interface = dlsym(library, "dbus_message_get_interface"),
      let member = dlsym(library, "dbus_message_get_member"),
      let makeReturn = dlsym(library, "dbus_message_new_method_return"),
      let makeError = dlsym(library, "dbus_message_new_error"),
      let post = dlsym(library, "dbus_connection_send"),
      let open = dlsym(library, "dbus_message_iter_open_container"),
      let closeContainer = dlsym(library, "dbus_message_iter_close_container")
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
    self.next = Self.call(next)
    self.takeMessage = Self.call(takeMessage)
    self.messageType = Self.call(messageType)
    self.interface = Self.call(interface)
    self.member = Self.call(member)
    self.makeReturn = Self.call(makeReturn)
    self.makeError = Self.call(makeError)
    self.post = Self.call(post)
    self.open = Self.call(open)
    self.closeContainer = Self.call(closeContainer)
  }

  private static func call<Function>(_ symbol: UnsafeMutableRawPointer) -> Function {
    unsafeBitCast(symbol, to: Function.self)
  }
}
