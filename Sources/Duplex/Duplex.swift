// The modules that a program needs, available with one import. Each of them can be imported alone.
@_exported import AudioBasics
@_exported import AudioClocks
@_exported import AudioDevices
@_exported import AudioFiles
@_exported import AudioLevels
@_exported import AudioSessions
@_exported import AudioSpectra
@_exported import DelayEstimation
@_exported import LatencyMeasurement
@_exported import RealtimeAudio
@_exported import SimulatedDevices
@_exported import VoiceCleaning
