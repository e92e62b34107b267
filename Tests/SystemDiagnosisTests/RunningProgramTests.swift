import LinuxSystem
import MachineFiles
import Testing

@Suite struct RunningProgramTests {
  private static let substream = "/proc/asound/card0/pcm0c/sub0/status"

  @Test func `the program that opened a device is found by the thread in the kernel's status`() {
    let machine = FakeMachine()
    machine.write(
      """
      state: RUNNING
      owner_pid   : 4711
      trigger_time: 123.456789012
      tstamp      : 0.000000000
      delay       : 128
      avail       : 384
      avail_max   : 512
      -----
      hw_ptr      : 9600
      appl_ptr    : 9728

      """, to: Self.substream)
    let files = machine.files()
    #expect(RunningProgram.holding(substream: Self.substream, files) == nil)
    machine.write("Name:\tdata-loop\nTgid:\t4700\n", to: "/proc/4711/status")
    machine.write("pipewire\n", to: "/proc/4700/comm")
    let program = RunningProgram.holding(substream: Self.substream, files)
    #expect(program?.description == "pipewire (process 4700)")
    #expect(files.paths(matching: "/proc/asound/card*/pcm0[cp]/sub*/status") == [Self.substream])
  }

  @Test(arguments: ["closed\n", "", "owner_pid\n", "owner_pid   : \n", "owner_pid : nobody\n"])
  func `a device that nobody opened is held by no program`(status: String) {
    let machine = FakeMachine()
    machine.write(status, to: Self.substream)
    #expect(RunningProgram.holding(substream: Self.substream, machine.files()) == nil)
  }
}
