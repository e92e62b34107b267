import AudioBasics
import RealtimeAudio
import Testing

@testable import AudioDevices

/// Tests of the turns to open and close clients of JACK.
@Suite(.serialized) struct JACKClientsTests {
  /// Another thread, which asks for the turn without waiting.
  private struct Asking: RealtimeWork, Sendable, ~Copyable {
    var isGranted = false

    mutating func run() {
      isGranted = JACKTurn.begin(limit: 0)
      if isGranted { JACKTurn.end() }
    }
  }

  private func isGrantedToAnother() throws -> Bool {
    try RealtimeThread(name: "asking", priority: .normal, Asking()).join().isGranted
  }

  @Test func `a turn excludes other threads until it ends as often as it began`() throws {
    #expect(JACKTurn.begin(limit: 0))
    #expect(JACKTurn.begin(limit: 0))
    #expect(try !isGrantedToAnother())
    JACKTurn.end()
    #expect(try !isGrantedToAnother())
    JACKTurn.end()
    #expect(try isGrantedToAnother())
  }

  /// Another thread, which waits for the turn until the session is over.
  private struct Waiting: RealtimeWork, Sendable, ~Copyable {
    var questions = 0
    var isGranted = false

    mutating func run() {
      isGranted = JACKTurn.begin(
        limit: .max,
        until: {
          questions += 1
          return questions == 3
        })
    }
  }

  @Test func `a wait for the turn ends with the session`() throws {
    #expect(JACKTurn.begin(limit: 0))
    defer { JACKTurn.end() }
    let waiting = try RealtimeThread(name: "waiting", priority: .normal, Waiting()).join()
    let (questions, isGranted) = (waiting.questions, waiting.isGranted)
    #expect(questions == 3)
    #expect(!isGranted)
  }

  @Test func `clients that were opened before a loss are told from later ones`() {
    let (first, second) = (JACKClients.add(), JACKClients.add())
    let newest = JACKClients.newest
    #expect(newest == second)
    let later = JACKClients.add()
    JACKClients.remove(first)
    #expect(JACKClients.areOpen(upTo: newest))
    JACKClients.remove(second)
    #expect(!JACKClients.areOpen(upTo: newest))
    #expect(JACKClients.areOpen(upTo: later))
    JACKClients.remove(later)
  }

  @Test(arguments: ["null", "plug:null", "hw:7", "no such PCM", ""])
  func `PCMs of other kinds do not lead to JACK`(name: String) {
    #expect(!DeviceNames.leadsToJACK(name))
  }
}
