// Mixers without ALSA: as FakePCM.h, for the functions of simple mixer controls that AudioDevices calls.
#pragma once

#include <stdbool.h>

enum { fake_controls = 4, fake_channels = 2 };

/// A control of a fake mixer. The test changes the fields between calls.
struct fake_control {
  char name[32];
  bool has_volume, has_switch, is_capture;
  /// Whether volumes have a scale: a hundredth of a decibel times `step` each, `highest` being 0 dB.
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
  /// What attaching answers; 0 attaches.
  int attach_code;
};

/// A mixer of a name of its own, which stays until the program ends.
struct fake_mixer *fake_mixer_make(void);
