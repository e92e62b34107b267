import LinuxSystem
import Testing

@Suite struct ProgramOutputTests {
  @Test func `a program that does not end is not waited for`() {
    #expect(ProgramOutput.run(["sleep", "1000"], timeoutMilliseconds: 30) == .timedOut)
    #expect(
      ProgramOutput.run(["sh", "-c", "sleep 1000 & sleep 1000"], timeoutMilliseconds: 30)
        == .timedOut)
    #expect(
      ProgramOutput.run(["sh", "-c", "echo 5; exec >&-; sleep 1000"], timeoutMilliseconds: 30)
        == .timedOut)
    #expect(ProgramOutput.run(["echo", "48000"], timeoutMilliseconds: 60_000) == .text("48000\n"))
    #expect(ProgramOutput.run(["false"], timeoutMilliseconds: 60_000) == .failed)
    #expect(ProgramOutput.run(["duplex-no-such-program"], timeoutMilliseconds: 60_000) == .failed)
  }
}
