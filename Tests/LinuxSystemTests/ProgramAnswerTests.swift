import LinuxSystem
import Testing

@Suite struct ProgramAnswerTests {
  @Test func `a program that does not answer is not waited for`() {
    #expect(ProgramAnswer.asking(["sleep", "1000"], milliseconds: 30) == .late)
    #expect(
      ProgramAnswer.asking(["sh", "-c", "sleep 1000 & sleep 1000"], milliseconds: 30) == .late)
    #expect(
      ProgramAnswer.asking(["sh", "-c", "echo 5; exec >&-; sleep 1000"], milliseconds: 30) == .late)
    #expect(ProgramAnswer.asking(["echo", "48000"], milliseconds: 60_000) == .text("48000\n"))
    #expect(ProgramAnswer.asking(["false"], milliseconds: 60_000) == .failed)
    #expect(ProgramAnswer.asking(["duplex-no-such-program"], milliseconds: 60_000) == .failed)
  }
}
