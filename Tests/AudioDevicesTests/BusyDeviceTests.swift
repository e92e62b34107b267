import Glibc
import Testing

@testable import AudioDevices

@Suite struct BusyDeviceTests {
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

  @Test(arguments: [EMFILE, ENFILE])
  func `a device for which too many files are open is not called absent`(code: Int32) {
    let failure = PCMFailure.opening("default", .capture, code: -code)
    #expect(failure.kind == .refused)
    #expect(failure.message == "The input default cannot be opened: too many files are open.")
  }

  @Test func `a card that does not exist has no holder`() {
    #expect(BusyDevice.holder(of: "hw:CARD=NoSuchCard,DEV=0") == nil)
  }

  @Test func `the description of a holder contains its name and process`() {
    #expect("\(BusyHolder(name: "jackd", process: 12))" == "jackd (process 12)")
  }
}
