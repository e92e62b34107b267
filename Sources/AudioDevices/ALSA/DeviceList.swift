import CALSA

/// The devices of this machine as they are at one moment.
public struct DeviceList: Sendable, Equatable {
  /// The sound cards.
  public var cards: [CardDescription]
  /// The PCMs that ALSA's configuration defines.
  public var named: [NamedPCM]

  /// Looks at everything there is. Opens each free device for a moment, so this is not for a time
  /// when audio runs or is about to.
  public static func current() -> DeviceList {
    AlsaLibrary.prepare()
    return DeviceList(
      cards: (0..<mostCards).filter(isThere).map(card), named: PCMHints().named)
  }

  /// The kernel's own limit.
  private static let mostCards: Int32 = 32

  /// Asked of the kernel's list too: ALSA passes over a card that this user may not open, and then
  /// nobody could say why it is missing.
  private static func isThere(_ number: Int32) -> Bool {
    snd_card_load(number) == 1 || procID(number) != nil
  }

  private static func card(_ number: Int32) -> CardDescription {
    do throws(DeviceFailure) {
      return try CardControl(card: number).description
    } catch {
      let id = procID(number) ?? "\(number)"
      return CardDescription(number: Int(number), id: id, name: id, devices: [], failure: error)
    }
  }

  private static func procID(_ number: Int32) -> String? {
    ProcFile.text("/proc/asound/card\(number)/id").map { String($0.prefix { !$0.isNewline }) }
  }
}
