import LinuxSystem
import MachineFiles
import RealtimeAudio
import SystemDiagnosis
import Testing

/// The differences of a machine from a machine without problems, and the expected findings.
struct MachineCase: CustomTestStringConvertible, Sendable {
  var name: String
  /// The files that differ; a file without a text does not exist.
  var files: [String: String?] = [:]
  var refused: Set<String> = []
  var answer = ProgramOutput.failed
  var granted = GrantedPriority(policy: .fifo, number: 70)
  var late = 40.0
  /// The plugin of the sound server that ALSA's default device uses.
  var defaultServer: String?
  /// The weight and the code of all findings that are not fine, worst first.
  var found: [String] = []

  var testDescription: String { name }

  var findings: [Finding] {
    let machine = FakeMachine()
    for (path, text) in Self.well.merging(files, uniquingKeysWith: { $1 }) {
      if let text { machine.write(text, to: path) }
    }
    let answer = answer
    let sample = WakeUpSample(granted: granted, late: Array(repeating: late, count: 1000))
    return Machine(files: machine.files(refusing: refused), runProgram: { _ in answer })
      .findings(defaultServer: defaultServer, wakeUps: sample)
  }

  private static let card = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0"

  /// The files of a computer without problems, with an interface at a separate USB port.
  static let well: [String: String?] = [
    "/proc/asound/cards": """
     0 [PCH            ]: HDA-Intel - HDA Intel PCH
                          HDA Intel PCH at 0xf7f10000 irq 35
     1 [USB            ]: USB-Audio - Scarlett 2i2 USB
                          Focusrite Scarlett 2i2 USB at usb-0000:00:14.0-2, high speed

    """,
    "/dev/snd/pcmC0D0p": "", "/dev/snd/pcmC0D0c": "", "/dev/snd/pcmC1D0p": "",
    "/dev/snd/controlC0": "",
    "/proc/asound/card0/pcm0p/sub0/status": "closed\n",
    "/proc/asound/card1/pcm0c/sub0/status": "closed\n",
    "\(card)/bInterfaceClass": "01\n",
    "/sys/class/sound/card0/device": "-> ../../../devices/pci0000:00/0000:00:1f.3",
    "/sys/devices/pci0000:00/0000:00:1f.3/vendor": "0x8086\n",
    "/sys/class/sound/card1/device":
      "-> ../../../devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0",
    "/sys/bus/usb/devices/1-2/product": "Scarlett 2i2 USB\n",
    "/sys/bus/usb/devices/1-2/speed": "480\n",
    "/sys/bus/usb/devices/1-2/power/control": "on\n",
    "/sys/bus/usb/devices/1-2:1.0/bInterfaceClass": "01\n",
    "/sys/bus/usb/devices/1-3/product": "Keyboard\n",
    "/sys/bus/usb/devices/1-3:1.0/bInterfaceClass": "03\n",
    "/sys/bus/usb/devices/usb1/bDeviceClass": "09\n",
    "/proc/1/comm": "systemd\n",
    "/proc/self/status":
      "Uid:\t1000\t1000\t1000\t1000\nGroups:\t29 1000 \nCapEff:\t0000000000000000\n",
    "/proc/self/limits": limits("unlimited"),
    "/proc/version":
      "Linux version 6.1.0-18-amd64 (debian) #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n",
    "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet preempt=full\n",
    "/proc/timer_list": "Timer List Version: v0.10\ncpu: 0\n clock 0:\n  .resolution: 1 nsecs\n",
    "/proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu vme sse2\n",
    "/boot/config-6.1.0-18-amd64": "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_PREEMPT_VOLUNTARY=y\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
    "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "performance\n",
    "/sys/module/snd_hda_intel/parameters/power_save": "0\n",
  ]

  /// The differences in a container in which /proc/asound is empty, as in Docker.
  static let hidden: [String: String?] = [
    "/.dockerenv": "", "/proc/asound/cards": nil, "/proc/asound/card0/pcm0p/sub0/status": nil,
    "/proc/asound/card1/pcm0c/sub0/status": nil, "/dev/snd/controlC1": "",
    "/sys/class/sound/card0/id": "PCH\n", "/sys/class/sound/card1/id": "USB\n",
  ]

  static func limits(_ memory: String) -> String {
    """
    Limit                     Soft Limit           Hard Limit           Units
    Max cpu time              unlimited            unlimited            seconds
    Max locked memory         \(memory)              \(memory)              bytes

    """
  }
}
