import LinuxSystem
import RealtimeAudio
import SystemDiagnosis
import Testing

struct MachineTests {
  @Test(arguments: table)
  func `exactly the problems of a machine are found, the most severe first`(
    of machine: MachineCase
  ) {
    let found = machine.findings.filter { $0.severity != .fine }
    #expect(found.map { "\($0.severity.rawValue) \($0.code)" } == machine.found)
  }

  @Test(arguments: table)
  func `every finding is one sentence, and has a remedy unless it is fine`(of machine: MachineCase)
  {
    for finding in machine.findings {
      #expect(finding.message.hasSuffix("."))
      #expect(!finding.message.contains("\n") && !finding.remedy.contains("\n"))
      if finding.severity != .fine { #expect(!finding.remedy.isEmpty, "\(finding.code)") }
    }
  }

  @Test func `a thread that is not woken up again is a problem`() {
    let found = Machine(files: SystemFiles(root: "/nonexistent")).findings(wakeUps: nil)
    #expect(found.first { $0.code == "wakeUpsStuck" }?.severity == .problem)
  }

  @Test func `an unreadable ALSA configuration is the first problem`() {
    let found = Machine(files: SystemFiles(root: "/nonexistent")).findings(
      configuration: ("It cannot be read.", "Correct it."), wakeUps: nil)
    #expect(found.first?.code == "alsaConfiguration" && found.first?.severity == .problem)
    #expect(found.first?.message == "It cannot be read." && found.first?.remedy == "Correct it.")
  }

  @Test func `the program that holds a card is named with the direction that it holds`() {
    let found = holding("arecord").findings.first { $0.code == "cardHeld" }
    #expect(found?.message == "arecord (process 812) holds the input of USB.")
  }

  @Test func `the quantum of PipeWire is reported in frames and milliseconds`() {
    let found = pipewire("clock.quantum 1024").findings.first { $0.code == "serverQuantum" }
    #expect(found?.message.contains("1024 frames at 48000 Hz (21.33 ms)") == true)
  }

  @Test func `the recommended period is longer than the worst wake-up delay`() {
    let late = MachineCase(name: "late", late: 3100, found: [])
    let found = late.findings.first { $0.code == "wakeUps" }
    #expect(found?.remedy.contains("-p 256") == true)  // 5.3 ms
  }

  static let table: [MachineCase] = [
    MachineCase(name: "all is well"),
    MachineCase(
      name: "no driver", files: ["/proc/asound/cards": nil], found: ["problem noDriver"]),
    MachineCase(
      name: "the kernel's list is empty",
      files: [
        "/proc/asound/cards": "--- no soundcards ---\n",
        "/sys/bus/usb/devices/1-2:1.0/bInterfaceClass": nil,
      ], found: ["problem noCard"]),
    MachineCase(
      name: "a container without sound",
      files: [
        "/proc/asound/cards": nil, "/.dockerenv": "",
        "/sys/bus/usb/devices/1-2:1.0/bInterfaceClass": nil,
      ], found: ["problem noCard"]),
    MachineCase(
      name: "a container whose sound goes through a server",
      files: [
        "/proc/asound/cards": nil, "/.dockerenv": "", "/proc/812/comm": "jackd\n",
        "/sys/bus/usb/devices/1-2:1.0/bInterfaceClass": nil,
      ], found: ["warning serverQuantum", "notice noCard"]),
    MachineCase(
      name: "a container that hides the list of cards",
      files: MachineCase.hidden, found: ["notice cardsHidden"]),
    MachineCase(
      name: "a container that hides the list of cards, and was given none of them",
      files: MachineCase.hidden.merging(
        [
          "/dev/snd/controlC0": nil, "/dev/snd/controlC1": nil, "/dev/snd/pcmC0D0p": nil,
          "/dev/snd/pcmC0D0c": nil, "/dev/snd/pcmC1D0p": nil,
          "/sys/bus/usb/devices/1-2:1.0/bInterfaceClass": nil,
        ], uniquingKeysWith: { $1 }),
      found: ["problem noCard"]),
    MachineCase(
      name: "a container that sees cards but has no device files",
      files: [
        "/run/.containerenv": "", "/dev/snd/pcmC0D0p": nil, "/dev/snd/pcmC0D0c": nil,
        "/dev/snd/pcmC1D0p": nil,
      ], found: ["problem noDeviceFiles"]),
    MachineCase(
      name: "a user who is not in the group audio",
      refused: ["/dev/snd/pcmC0D0p", "/dev/snd/pcmC1D0p"],
      found: ["problem cardsRefused"]),
    MachineCase(
      name: "no realtime priority",
      granted: GrantedPriority(policy: .normal, number: 0), found: ["problem noRealtime"]),
    MachineCase(
      name: "a lower realtime priority",
      granted: GrantedPriority(policy: .fifo, number: 20), found: ["warning lowRealtime"]),
    MachineCase(
      name: "RealtimeKit", granted: GrantedPriority(policy: .roundRobin, number: 20),
      found: ["notice realtimeKit"]),
    MachineCase(
      name: "little memory may be locked, and there is swap",
      files: [
        "/proc/self/limits": MachineCase.limits("8388608"),
        "/proc/swaps": "Filename Type Size Used Priority\n/dev/sda2 partition 8388604 0 -2\n",
      ], found: ["warning memoryLimit"]),
    MachineCase(
      name: "little memory may be locked, but there is no swap",
      files: ["/proc/self/limits": MachineCase.limits("8388608"), "/proc/swaps": "Filename\n"],
      found: ["notice memoryLimit"]),
    MachineCase(
      name: "root may lock all memory, whatever the limit",
      files: [
        "/proc/self/limits": MachineCase.limits("8388608"),
        "/proc/self/status": "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
      ]),
    MachineCase(
      name: "a laptop that saves power",
      files: [
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "acpi-cpufreq\n",
        "/sys/module/snd_hda_intel/parameters/power_save": "10\n",
      ], found: ["warning governor", "notice codecSleeps"]),
    MachineCase(
      name: "powersave that goes up by itself",
      files: [
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
      ], found: ["notice governor"]),
    MachineCase(
      name: "a hub shared with a camera",
      files: [
        "/sys/class/sound/card1/device":
          "-> ../../../devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4.1/1-4.1:1.0",
        "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4.1/1-4.1:1.0/bInterfaceClass": "01\n",
        "/sys/bus/usb/devices/1-4/bDeviceClass": "09\n",
        "/sys/bus/usb/devices/1-4.1/product": "Scarlett 2i2 USB\n",
        "/sys/bus/usb/devices/1-4.1/power/control": "on\n",
        "/sys/bus/usb/devices/1-4.2/product": "Camera\n",
      ], found: ["warning sharedHub"]),
    MachineCase(
      name: "a disk on the same bus, a slow interface that sleeps",
      files: [
        "/sys/bus/usb/devices/1-2/speed": "12\n",
        "/sys/bus/usb/devices/1-2/power/control": "auto\n",
        "/sys/bus/usb/devices/1-5/product": "Disk\n",
        "/sys/bus/usb/devices/1-5:1.0/bInterfaceClass": "08\n",
      ], found: ["notice sharedBus", "notice fullSpeed", "notice usbSleeps"]),
    MachineCase(
      name: "timers switched off", files: ["/proc/cmdline": "quiet highres=off preempt=full\n"],
      found: ["problem coarseTimers"]),
    MachineCase(
      name: "timers in ticks",
      files: ["/proc/timer_list": "cpu: 0\n clock 0:\n  .resolution: 4000000 nsecs\n"],
      found: ["problem coarseTimers"]),
    MachineCase(
      name: "a kernel built without timers, whose list only root may read",
      files: [
        "/proc/timer_list": nil,
        "/boot/config-6.1.0-18-amd64": "# CONFIG_HIGH_RES_TIMERS is not set\n",
      ], found: ["problem coarseTimers"]),
    MachineCase(
      name: "Debian's kernel as it comes", files: ["/proc/cmdline": "quiet\n"],
      found: ["notice preemption"]),
    MachineCase(
      name: "what root sees of preemption",
      files: ["/sys/kernel/debug/sched/preempt": "(none) voluntary full\n"],
      found: ["warning preemption"]),
    MachineCase(
      name: "a kernel of a server",
      files: [
        "/proc/version": "Linux version 5.10.0 (gcc) #1 SMP\n", "/proc/cmdline": "quiet\n",
        "/boot/config-6.1.0-18-amd64": nil,
      ], found: ["warning preemption"]),
    MachineCase(
      name: "PREEMPT_RT",
      files: [
        "/proc/version": "Linux version 6.1.0-18-rt-amd64 #1 SMP PREEMPT_RT Debian\n",
        "/proc/cmdline": "quiet\n",
      ]),
    MachineCase(
      name: "a virtual machine",
      files: ["/proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu vme hypervisor sse2\n"],
      found: ["notice virtualMachine"]),
    MachineCase(name: "a late wake-up now and then", late: 1500, found: ["warning wakeUps"]),
    MachineCase(name: "late wake-ups all the time", late: 5000, found: ["problem wakeUps"]),
    pipewire("clock.quantum 1024", found: ["notice serverQuantum"]),
    pipewire("clock.quantum 1024 clock.min-quantum 512", found: ["warning serverQuantum"]),
    pipewire("clock.quantum 1024 clock.force-quantum 2048", found: ["warning serverQuantum"]),
    MachineCase(
      name: "PipeWire that does not answer", files: ["/proc/812/comm": "pipewire\n"],
      answer: .timedOut,
      found: ["problem serverSilent"]),
    MachineCase(
      name: "PipeWire that was stopped",
      files: ["/proc/812/comm": "pipewire\n", "/proc/812/status": "State:\tT (stopped)\n"],
      found: ["problem serverStopped"]),
    MachineCase(
      name: "PulseAudio that was stopped",
      files: ["/proc/812/comm": "pulseaudio\n", "/proc/812/status": "State:\tT (stopped)\n"],
      found: ["problem serverStopped"]),
    MachineCase(
      name: "servers that have ended",
      files: [
        "/proc/812/comm": "pulseaudio\n", "/proc/812/status": "State:\tZ (zombie)\n",
        "/proc/813/comm": "pipewire\n", "/proc/813/status": "State:\tZ (zombie)\n",
      ]),
    MachineCase(
      name: "a default device without its server", defaultServer: "pulse",
      found: ["warning defaultServer"]),
    MachineCase(
      name: "a default device with its server", files: ["/proc/812/comm": "pulseaudio\n"],
      defaultServer: "pulse", found: ["warning serverBuffer"]),
    MachineCase(
      name: "PulseAudio", files: ["/proc/812/comm": "pulseaudio\n"], found: ["warning serverBuffer"]
    ),
    MachineCase(
      name: "JACK",
      files: [
        "/proc/812/comm": "jackd\n",
        "/proc/812/cmdline": "jackd\0-p\0512\0-d\0alsa\0-p64\0-r\044100\0",
      ], found: ["notice serverQuantum"]),
    MachineCase(
      name: "JACK with a long period",
      files: ["/proc/812/comm": "jackd\n", "/proc/812/cmdline": "jackd\0-d\0alsa\0"],
      found: ["warning serverQuantum"]),
    holding("arecord", found: ["warning cardHeld"]),
    MachineCase(
      name: "nothing can be read", files: MachineCase.well.mapValues { _ in nil as String? },
      found: ["problem noCard"]),
  ]
}

/// Returns a machine with PipeWire, which reports these settings.
private func pipewire(_ settings: String, found: [String] = []) -> MachineCase {
  let words = ("clock.rate 48000 " + settings).split(separator: " ")
  let lines = stride(from: 0, to: words.count, by: 2).map {
    "update: id:0 key:'\(words[$0])' value:'\(words[$0 + 1])' type:''\n"
  }
  return MachineCase(
    name: "PipeWire, \(settings)", files: ["/proc/812/comm": "pipewire\n"],
    answer: .text("Found \"settings\" metadata 32\n" + lines.joined()), found: found)
}

/// Returns a machine on which a thread of that program has opened the interface's input.
private func holding(_ program: String, found: [String] = []) -> MachineCase {
  MachineCase(
    name: "\(program) holds the interface",
    files: [
      "/proc/asound/card1/pcm0c/sub0/status": "state: RUNNING\nowner_pid   : 815\n",
      "/proc/815/status": "Name:\tdata-loop\nTgid:\t812\n", "/proc/812/comm": "\(program)\n",
    ], found: found)
}
