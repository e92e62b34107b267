// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors, and the compiler checks values that must not outlive their owner.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableExperimentalFeature("Lifetimes"),
]
// Every file imports AudioBasics implicitly. Its declarations make the compiler reject the
// conversions of floating-point values to integers that end the program if the value does not fit.
let checked =
  strict + [
    .unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "AudioBasics"])
  ]
// Valgrind cannot read newer debug information than DWARF 4.
let inC: [CSetting] = [.unsafeFlags(["-gdwarf-4"])]
// Modules that tests run for hours of virtual time are optimised in debug builds, too.
let optimised: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]
let optimisedC = inC + [.unsafeFlags(["-O2"], .when(configuration: .debug))]
// A generic function is proven realtime-safe if a marked function calls it with a concrete type and
// the compiler sees both. In a debug build this requires whole-module compilation.
let whole: [SwiftSetting] = [
  .unsafeFlags(
    ["-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2"],
    .when(configuration: .debug))
]
// Modules above the waterline (see README) use no pointers: the compiler rejects unsafe code in
// them.
let safe = checked + [.strictMemorySafety()]

// The dependencies of the targets that Scripts/fuzz runs.
let fuzzed: [Target.Dependency] = [
  "duplex", "AudioBasics", "RealtimeAudio", "AudioFiles", "AudioDevices", "SimulatedDevices",
  "AudioSessions", "ConfigurationFiles", "TestSources",
  .product(name: "ArgumentParser", package: "swift-argument-parser"),
]

let package = Package(
  name: "duplex",
  products: [
    .library(
      name: "Duplex",
      targets: [
        "Duplex", "AudioBasics", "RealtimeAudio", "AudioClocks", "AudioLevels", "AudioSpectra",
        "VoiceCleaning", "AudioFiles", "AudioDevices", "SimulatedDevices", "AudioSessions",
        "DelayEstimation", "LatencyMeasurement",
      ]),
    .executable(name: "duplex", targets: ["duplex"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // Basic types of audio.
    .target(name: "CVectors", cSettings: optimisedC),
    .target(name: "AudioBasics", dependencies: ["CVectors"], swiftSettings: strict + optimised),

    // What Linux reports about itself, and the start of other programs.
    .target(name: "CLinuxFiles", cSettings: inC),
    .target(
      name: "LinuxSystem", dependencies: ["AudioBasics", "CLinuxFiles"], swiftSettings: checked),

    // Realtime threads, and the exchange of audio between threads.
    .target(name: "CRealtime", cSettings: inC),
    .target(
      name: "RealtimeAudio", dependencies: ["AudioBasics", "CRealtime", "CVectors"],
      swiftSettings: checked + whole),

    // Libraries that are loaded only if they are needed.
    .target(name: "CLibraryLoading", cSettings: inC),

    // Clocks and sample rate conversion.
    .systemLibrary(
      name: "CSpeexDSP", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
    .target(name: "CSoxr", dependencies: ["CLibraryLoading"], cSettings: inC),
    .target(
      name: "AudioClocks",
      dependencies: ["AudioBasics", "RealtimeAudio", "CVectors", "CSpeexDSP", "CSoxr"],
      swiftSettings: checked + optimised),

    // Spectra, and the estimation of the delay between two signals.
    .systemLibrary(name: "CKissFFT", providers: [.apt(["libkissfft-dev"])]),
    .target(
      name: "AudioSpectra", dependencies: ["AudioBasics", "CKissFFT"],
      swiftSettings: checked + optimised),
    .target(
      name: "DelayEstimation", dependencies: ["AudioBasics", "AudioSpectra"],
      swiftSettings: safe + optimised),

    // Voice cleaning: removal of noise, echo and reverberation.
    .systemLibrary(
      name: "CSpeexVoice", pkgConfig: "speexdsp", providers: [.apt(["libspeexdsp-dev"])]),
    .target(
      name: "VoiceCleaning", dependencies: ["AudioBasics", "AudioSpectra", "CSpeexVoice"],
      swiftSettings: checked + optimised),

    // Level and loudness measurement.
    .target(
      name: "AudioLevels", dependencies: ["AudioBasics", "CVectors"],
      swiftSettings: checked + optimised),

    // Audio files.
    .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
    .target(name: "CCurl", dependencies: ["CLibraryLoading"], cSettings: inC),
    .systemLibrary(name: "CMpg123", pkgConfig: "libmpg123", providers: [.apt(["libmpg123-dev"])]),
    .systemLibrary(
      name: "CVorbisFile", pkgConfig: "vorbisfile", providers: [.apt(["libvorbis-dev"])]),
    .systemLibrary(
      name: "COpusFile", pkgConfig: "opusfile", providers: [.apt(["libopusfile-dev"])]),
    .target(
      name: "AudioFiles",
      dependencies: [
        "AudioBasics", "LinuxSystem", "RealtimeAudio", "CLinuxFiles", "CSndFile", "CCurl",
        "CMpg123", "CVorbisFile", "COpusFile",
      ],
      swiftSettings: checked),

    // Configuration files.
    .target(
      name: "CTOML", cSettings: inC,
      cxxSettings: [.unsafeFlags(["-std=c++17", "-gdwarf-4"])]),
    .target(
      name: "ConfigurationFiles", dependencies: ["AudioBasics", "CTOML"], swiftSettings: checked),

    // What a program, not a library, does with its process: arguments, signals, standard streams.
    .target(name: "CProgram", cSettings: inC),
    .target(
      name: "ProgramRuntime",
      dependencies: ["AudioBasics", "LinuxSystem", "RealtimeAudio", "CProgram"],
      swiftSettings: checked),

    // The duplex unit, and ALSA.
    .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
    .target(
      name: "AudioDevices",
      dependencies: [
        "AudioBasics", "LinuxSystem", "RealtimeAudio", "AudioClocks", "CALSA", "CRealtime",
        "CVectors",
      ],
      swiftSettings: checked + whole + optimised),

    // A driver refers to its device by a pointer, also to a simulated one.
    .target(
      name: "SimulatedDevices",
      dependencies: ["AudioBasics", "RealtimeAudio", "AudioClocks", "AudioDevices"],
      swiftSettings: checked + optimised),

    // ~~~ the waterline ~~~
    .target(
      name: "AudioSessions",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioClocks", "AudioLevels", "AudioSpectra",
        "VoiceCleaning", "AudioFiles", "AudioDevices", "CVectors",
      ],
      swiftSettings: safe),
    .target(
      name: "LatencyMeasurement",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioFiles", "AudioDevices", "AudioSessions",
        "DelayEstimation",
      ],
      swiftSettings: safe),
    // A module that re-exports the others, and the engine that runs them.
    .target(
      name: "Duplex",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioClocks", "AudioLevels", "AudioSpectra",
        "VoiceCleaning", "AudioFiles", "AudioDevices", "SimulatedDevices", "AudioSessions",
        "DelayEstimation", "LatencyMeasurement",
      ],
      swiftSettings: safe + whole),
    // Drawing with Cairo, which is loaded for the first picture.
    .target(name: "CCairo", dependencies: ["CLibraryLoading"], cSettings: inC),
    .target(name: "CairoDrawing", dependencies: ["AudioBasics", "CCairo"], swiftSettings: checked),
    // The inspection of audio files.
    .target(
      name: "SoundInspection",
      dependencies: ["AudioBasics", "RealtimeAudio", "AudioSpectra", "AudioLevels", "AudioFiles"],
      swiftSettings: safe + optimised),
    .target(
      name: "Reports", dependencies: ["AudioBasics", "CairoDrawing", "SoundInspection"],
      swiftSettings: safe),
    // The diagnosis of a machine: obstacles to low latency.
    .target(
      name: "SystemDiagnosis", dependencies: ["AudioBasics", "LinuxSystem", "RealtimeAudio"],
      swiftSettings: safe),
    .executableTarget(
      name: "duplex",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioClocks", "AudioLevels", "VoiceCleaning", "AudioFiles",
        "AudioDevices", "SimulatedDevices", "AudioSessions", "DelayEstimation",
        "LatencyMeasurement", "Duplex", "Reports", "ConfigurationFiles", "SystemDiagnosis",
        "SoundInspection", "CairoDrawing", "ProgramRuntime",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      exclude: ["Terminal/events.schema.json"],
      // Its code runs once. Smaller code occupies fewer pages of memory.
      swiftSettings: safe + [.unsafeFlags(["-Osize"], .when(configuration: .release))],
      // With a static standard library the tool needs two thirds of the memory. Exported symbols,
      // which no library looks up, would need 0.9 MiB more.
      linkerSettings: [
        .unsafeFlags(
          [
            "-static-stdlib", "-use-ld=lld", "-l_FoundationCollections", "-l_FoundationCShims",
            "-Xlinker", "--no-export-dynamic",
          ], .when(configuration: .release))
      ]),

    // A source of bytes in memory, which the tests of files and fuzzing share. It needs no session.
    .target(
      name: "TestSources", dependencies: ["AudioFiles", "RealtimeAudio"],
      path: "Tests/TestSources", swiftSettings: checked),
    // Folders for the files of tests.
    .target(
      name: "TemporaryFolders", dependencies: ["AudioBasics"], path: "Tests/TemporaryFolders",
      swiftSettings: checked),
    // The expectation of a fatal error, for tests of wrong uses.
    .target(
      name: "FatalErrors", dependencies: ["AudioBasics"], path: "Tests/FatalErrors",
      swiftSettings: checked),
    // A simulated machine for the tests of /proc and /sys. It does not import the modules of audio
    // files and sessions, which the tests under AddressSanitizer would compile for it.
    .target(
      name: "MachineFiles", dependencies: ["AudioBasics", "LinuxSystem", "TemporaryFolders"],
      path: "Tests/MachineFiles", swiftSettings: checked),
    // What several test targets and the benchmarks share: signals, rigs and trials.
    .target(
      name: "TestSupport",
      dependencies: [
        "AudioBasics", "LinuxSystem", "RealtimeAudio", "AudioClocks", "AudioSpectra", "AudioFiles",
        "AudioDevices", "AudioSessions", "DelayEstimation", "TemporaryFolders",
      ],
      path: "Tests/TestSupport", swiftSettings: checked + optimised),

    // Benchmarks, with a comparison to converters of other projects, which are loaded at run time.
    .target(name: "COtherConverters", path: "Tests/COtherConverters", cSettings: inC),
    .target(
      name: "OtherConverters", dependencies: ["AudioBasics", "COtherConverters"],
      path: "Tests/OtherConverters", swiftSettings: checked),
    .systemLibrary(name: "CMalloc", path: "Tests/CMalloc"),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CMalloc", "AudioBasics", "RealtimeAudio", "AudioClocks", "AudioSpectra", "AudioFiles",
        "AudioDevices", "AudioSessions", "DelayEstimation", "Duplex", "OtherConverters", "Reports",
        "TestSupport",
      ],
      path: "Tests/Benchmarks", exclude: ["instructions.txt"], swiftSettings: safe + optimised),

    // An example that uses a player's tap.
    .executableTarget(
      name: "SpectrumExample",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioDevices", "AudioSpectra", "AudioSessions",
      ],
      path: "Tests/SpectrumExample", swiftSettings: safe),

    .testTarget(
      name: "SpectrumExampleTests", dependencies: ["AudioBasics", "SpectrumExample"],
      swiftSettings: checked),
    .testTarget(
      name: "AudioSessionsTests",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioClocks", "AudioLevels", "VoiceCleaning",
        "AudioDevices", "AudioFiles", "SimulatedDevices", "AudioSessions", "FatalErrors",
        "TemporaryFolders", "TestSupport",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "DuplexTests",
      dependencies: ["AudioBasics", "AudioDevices", "Duplex", "RealtimeAudio", "TemporaryFolders"],
      swiftSettings: checked),
    .testTarget(
      name: "DelayEstimationTests",
      dependencies: ["AudioBasics", "AudioSpectra", "DelayEstimation", "TestSupport"],
      swiftSettings: checked),
    .testTarget(
      name: "LatencyMeasurementTests",
      dependencies: [
        "AudioBasics", "AudioDevices", "AudioSessions", "SimulatedDevices", "DelayEstimation",
        "LatencyMeasurement",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "ReportsTests", dependencies: ["AudioBasics", "CairoDrawing", "Reports"],
      swiftSettings: checked),
    .testTarget(
      name: "SoundInspectionTests",
      dependencies: ["AudioBasics", "AudioFiles", "AudioSpectra", "SoundInspection"],
      swiftSettings: checked),
    .testTarget(
      name: "SystemDiagnosisTests",
      dependencies: [
        "AudioBasics", "LinuxSystem", "RealtimeAudio", "SystemDiagnosis", "MachineFiles",
      ],
      swiftSettings: checked),
    // In the test program its functions take precedence over those of alsa-lib.
    .target(name: "FakePCM", path: "Tests/FakePCM", cSettings: inC),
    .testTarget(
      name: "AudioDevicesTests",
      dependencies: [
        "AudioBasics", "LinuxSystem", "RealtimeAudio", "AudioDevices", "FakePCM", "MachineFiles",
      ],
      swiftSettings: checked),
    .testTarget(
      name: "LinuxSystemTests", dependencies: ["AudioBasics", "LinuxSystem", "MachineFiles"],
      swiftSettings: checked),
    .testTarget(
      name: "RealtimeAudioTests", dependencies: ["AudioBasics", "RealtimeAudio"],
      swiftSettings: checked),
    .testTarget(
      name: "ProgramRuntimeTests", dependencies: ["AudioBasics", "ProgramRuntime"],
      swiftSettings: checked),
    .testTarget(name: "ReadmeTests", dependencies: ["AudioBasics"], swiftSettings: checked),
    .testTarget(
      name: "ConfigurationFilesTests", dependencies: ["AudioBasics", "ConfigurationFiles"],
      swiftSettings: checked),
    .testTarget(
      name: "ToolTests",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioFiles", "AudioSessions", "ProgramRuntime", "duplex",
      ],
      swiftSettings: checked),
    // Tests of earlier findings of fuzzing. With libFuzzer the targets are a separate program, see
    // below.
    .testTarget(
      name: "FuzzTests", dependencies: fuzzed, path: "Tests/Fuzz/Targets", exclude: ["main.swift"],
      swiftSettings: checked + optimised),
    // The loops of CVectors without AVX2.
    .target(
      name: "CPlainVectors", dependencies: ["CVectors"], path: "Tests/CPlainVectors",
      cSettings: optimisedC),
    .testTarget(
      name: "AudioBasicsTests", dependencies: ["AudioBasics", "CVectors", "CPlainVectors"],
      swiftSettings: checked),
    .testTarget(
      name: "AudioFilesTests",
      dependencies: [
        "AudioBasics", "RealtimeAudio", "AudioFiles", "TemporaryFolders", "TestSources",
      ],
      swiftSettings: checked),
    // The reference for the loudness meter.
    .systemLibrary(
      name: "CEbur128", path: "Tests/CEbur128", pkgConfig: "libebur128",
      providers: [.apt(["libebur128-dev"])]),
    .testTarget(
      name: "AudioLevelsTests",
      dependencies: ["AudioBasics", "AudioLevels", "CEbur128", "FatalErrors"],
      swiftSettings: checked + optimised),
    .testTarget(
      name: "AudioClocksTests",
      dependencies: ["AudioBasics", "AudioClocks", "FatalErrors", "TestSupport"],
      swiftSettings: checked + optimised),
    .testTarget(
      name: "VoiceCleaningTests", dependencies: ["AudioBasics", "AudioSpectra", "VoiceCleaning"],
      swiftSettings: checked + optimised),
    .testTarget(
      name: "SimulatedDevicesTests",
      dependencies: ["AudioBasics", "RealtimeAudio", "AudioDevices", "SimulatedDevices"],
      swiftSettings: checked),
  ],
  swiftLanguageModes: [.v6]
)

// If each module is built once and its tests run once, DUPLEX_TESTS lists the only test targets, so
// that no others are built. Modules are then compiled as a whole, and those with long tests are
// optimised. Both reduce the processor time in this case, but would increase it if single files
// change. A second process that writes a module earlier than its objects would expand all macros
// again, and nobody searches an index of the modules of Swift and of C libraries.
if let only = Context.environment["DUPLEX_TESTS"]?.split(separator: " ") {
  package.targets.removeAll { $0.isTest && !only.contains($0.name[...]) }
  for target in package.targets where target.swiftSettings != nil {
    let isLong = ["AudioFiles", "AudioSessions"].contains(target.name)
    target.swiftSettings? += whole + (isLong ? optimised : [])
    target.swiftSettings?.append(
      .unsafeFlags(
        [
          "-no-emit-module-separately-wmo", "-index-ignore-system-modules",
          "-index-ignore-clang-modules",
        ], .when(configuration: .debug)))
  }
}

// For fuzzing, all modules that are reached must be built with libFuzzer's counters, and the code
// of the tool as a library. DUPLEX_FUZZ adds the program that Scripts/fuzz runs.
if let library = Context.environment["DUPLEX_FUZZ"] {
  let counted = SwiftSetting.unsafeFlags(["-sanitize=fuzzer"])
  // Modules that process single samples or bytes are optimised, so that more inputs are tried.
  let fast: Set = [
    "AudioFiles", "AudioClocks", "AudioLevels", "AudioBasics", "AudioSessions", "SimulatedDevices",
  ]
  package.targets.removeAll { $0.isTest || $0.name == "Benchmarks" || $0.name == "SpectrumExample" }
  package.products.removeAll { $0.name == "duplex" }
  for index in package.targets.indices {
    let target = package.targets[index]
    guard target.swiftSettings != nil else { continue }
    target.swiftSettings? += [counted] + (fast.contains(target.name) ? optimised : [])
    guard target.name == "duplex" else { continue }
    package.targets[index] = .target(
      name: "duplex", dependencies: target.dependencies, exclude: target.exclude,
      swiftSettings: (target.swiftSettings ?? []) + [
        .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "duplex_main"])
      ])
  }
  package.targets += [
    .target(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
    .executableTarget(
      name: "Fuzz",
      dependencies: ["CFuzzer"] + fuzzed, path: "Tests/Fuzz/Targets",
      exclude: ["FindingTests.swift"], swiftSettings: checked + optimised,
      linkerSettings: [.unsafeFlags([library, "-lstdc++", "-use-ld=lld"])]),
  ]
}
