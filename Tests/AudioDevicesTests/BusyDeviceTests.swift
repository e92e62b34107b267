import Testing

@testable import AudioDevices

@Suite struct BusyDeviceTests {
  @Test func `the thread that opened a device is read from the kernel's status`() {
    let status = """
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

      """
    #expect(BusyDevice.ownerThread(in: status) == 4711)
  }

  @Test(arguments: ["closed\n", "", "owner_pid\n", "owner_pid   : \n", "owner_pid : nobody\n"])
  func `a device that is not open has no thread`(status: String) {
    #expect(BusyDevice.ownerThread(in: status) == nil)
  }

  @Test(arguments: [
    ("hw:1,0", "/proc/asound/card1/pcm0[cp]/sub*/status"),
    ("hw:1,0,3", "/proc/asound/card1/pcm0[cp]/sub3/status"),
    ("hw:1", "/proc/asound/card1/pcm*[cp]/sub*/status"),
    ("hw:USB", "/proc/asound/USB/pcm*[cp]/sub*/status"),
    ("plughw:CARD=USB,DEV=2", "/proc/asound/USB/pcm2[cp]/sub*/status"),
    ("hw:DEV=2,CARD=1,SUBDEV=0", "/proc/asound/card1/pcm2[cp]/sub0/status"),
    ("default", "/proc/asound/card*/pcm*[cp]/sub*/status"),
    ("null", "/proc/asound/card*/pcm*[cp]/sub*/status"),
    ("file:../x,*", "/proc/asound/card*/pcm*[cp]/sub*/status"),
  ])
  func `an ALSA name is mapped to the kernel's status files of its hardware`(
    name: String, pattern: String
  ) {
    #expect(BusyDevice.statusPattern(of: name, nil) == pattern)
  }

  @Test func `input and output have different status files`() {
    #expect(BusyDevice.statusPattern(of: "hw:0,0", .capture).contains("/pcm0c/"))
    #expect(BusyDevice.statusPattern(of: "hw:0,0", .playback).contains("/pcm0p/"))
  }

  @Test func `a card that does not exist has no holder`() {
    #expect(BusyDevice.holder(of: "hw:CARD=NoSuchCard,DEV=0") == nil)
  }

  @Test func `the description of a holder contains its name and process`() {
    #expect("\(BusyHolder(name: "jackd", process: 12))" == "jackd (process 12)")
  }
}
