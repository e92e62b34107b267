/// The numbers and ids of the sound cards, as the kernel's files list them. Any thread but the
/// audio thread.
///
/// Containers may hide `/proc/asound`: Docker mounts an empty folder there. The cards are then
/// those whose control devices are in `/dev/snd`, and `/sys` has their ids.
package struct CardFiles: Sendable {
  private let files: SystemFiles

  /// The cards of this machine.
  package static let ofThisMachine = CardFiles(.ofThisMachine)

  /// Reads these files.
  package init(_ files: SystemFiles) {
    self.files = files
  }

  /// The numbers of the cards that are present, in order.
  package var numbers: [Int] { numbers(after: isListMissing ? Self.control : Self.folder) }

  /// Whether there are cards, but `/proc/asound` is hidden.
  package var isListHidden: Bool { isListMissing && !numbers.isEmpty }

  private var isListMissing: Bool {
    !files.exists("/proc/asound/cards") && numbers(after: Self.folder).isEmpty
  }

  private static let folder = "/proc/asound/card"
  private static let control = "/dev/snd/controlC"

  /// Returns the card's id, its name within ALSA; nil if the card is not present, or its id cannot
  /// be read.
  package func id(of number: Int) -> String? {
    if let id = files.line("\(Self.folder)\(number)/id") { return id }
    // /sys also lists the cards that a container was not given.
    guard files.exists("\(Self.control)\(number)"), isListMissing else { return nil }
    return files.line("/sys/class/sound/card\(number)/id")
  }

  /// Returns the number of the card named by number or by id; nil if it is not present, or its id
  /// cannot be read.
  package func number(of card: String) -> Int? {
    if let number = Int(card) { return id(of: number).map { _ in number } }
    return numbers.first { id(of: $0) == card }
  }

  /// Returns the numbers of vendor and product of a USB card, such as `1235:8210`; nil for another
  /// card.
  package func usbProduct(of number: Int) -> String? {
    if let product = files.line("\(Self.folder)\(number)/usbid") { return product }
    guard let vendor = files.line(usbFolder(of: number) + "/idVendor"),
      let product = files.line(usbFolder(of: number) + "/idProduct")
    else { return nil }
    return "\(vendor):\(product)"
  }

  /// Returns the serial number of a USB card; nil if it has none.
  package func serial(of number: Int) -> String? {
    files.line(usbFolder(of: number) + "/serial")
  }

  /// Returns the name of a USB card; nil for another card.
  package func usbName(of number: Int) -> String? {
    files.line(usbFolder(of: number) + "/product")
  }

  /// Returns the folder of a USB device: the card belongs to one of its interfaces.
  private func usbFolder(of number: Int) -> String {
    "/sys/class/sound/card\(number)/device/.."
  }

  /// Returns the numbers at the end of the paths that begin with `path`.
  private func numbers(after path: String) -> [Int] {
    files.paths(matching: path + "[0-9]*").compactMap { Int($0.dropFirst(path.count)) }.sorted()
  }
}
