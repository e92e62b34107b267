// Mixers without ALSA: as in FakePCM.h, for the simple mixer control functions that AudioDevices
// calls.
#pragma once

#include <stdbool.h>

enum { fake_controls = 4, fake_channels = 2 };

/// A control of a fake mixer. The test changes the fields between calls.
struct fake_control {
  char name[32];
  bool has_volume, has_switch, is_capture;
  /// Whether volumes have a decibel scale: `step` hundredths of a decibel for each volume step,
  /// with 0 dB at `highest`.
  bool has_decibels;
  long lowest, highest, step;
  long volumes[fake_channels];
  int switches[fake_channels];
  /// Whether it refuses to be set.
  bool is_fixed;
};

/// The mixer of a control device.
struct fake_mixer {
  char name[32];
  struct fake_control controls[fake_controls];
  int count, opened, closed;
  /// The return value of attaching; 0 succeeds.
  int attach_code;
};

/// Returns a mixer with a unique name, which exists until the program ends.
struct fake_mixer *fake_mixer_make(void);
