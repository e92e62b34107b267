// ALSA PCMs without ALSA: in the program of the unit tests the snd_pcm functions that AudioDevices calls
// are these. A PCM whose name a test made with `fake_pcm_make` answers as its fields say; all others are
// passed on to alsa-lib.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "FakeMixer.h"

/// One direction of a device. Its format is s16LE. The test changes the fields between calls.
struct fake_pcm {
  char name[32];

  // What it grants; 0 grants what is asked.
  long rate, channels, period, buffer;
  /// Whether it maps no memory, so that frames are copied; and whether each channel lies on its own.
  bool is_copied, is_planar;
  /// Whether the channels it maps lie at uneven distances, or the frames of one at others than those of
  /// the rest. Such a device can be copied from as well.
  bool is_uneven, has_uneven_steps;
  /// Whether it is hardware, whose descriptor needs no translation, rather than a plugin.
  bool is_hardware;
  /// Whether a sound server stands behind it, and no card.
  bool is_server;
  bool refuses_link;
  /// Whether it never becomes due, so that a wait ends by its limit.
  bool is_never_due;
  /// What opening it answers; 0 opens it.
  int open_code;

  /// Frames that the converter and that the program has moved since it was prepared.
  long hardware, application;
  /// Frames by which the mapped page is behind what the kernel knows.
  long stale;
  /// Negative: the error code that it answers with when it is asked where it is.
  long code;
  /// Whether only the kernel knows of that error, and the mapped page not.
  bool is_code_hidden;
  bool is_running, is_suspended, is_linked;
  /// Frames by which the converters of this PCM and of its companion, the other direction of the same
  /// device, move each time it is waited for.
  long step;
  struct fake_pcm *companion;
  /// What the wait answers; 0 for POLLIN.
  int events;
  /// Frames by which its converter moves each time the kernel is asked where it is.
  long move;

  /// When it was where it is, in nanoseconds; negative: it does not tell.
  long stamp;
  /// When it stopped, and frames unread then, or the room for frames to play; negative: it does not tell.
  long stop_stamp, stop_unread;
  /// Frames of delay that its driver counts.
  long delay;
  /// How often it tells them, before there are none; 0 for always.
  int delay_queries;

  /// Calls that hand over frames and are refused, and the answer to them.
  int refusals;
  long refusal_code;
  /// Most frames that it takes or gives in one such call; 0 for no limit.
  long most;

  /// How often it answers that it is not resumed yet.
  int slow_resumes;

  // How often it was asked.
  int opened, closed, started, dropped, prepared, resumed, drained, translated;

  /// Its buffer, with room for 65536 samples.
  int16_t *memory;
  /// What is waited on, and the other end of that pipe.
  int descriptor, waker;
};

/// A PCM of a name of its own, which stays until the program ends.
struct fake_pcm *fake_pcm_make(void);

/// Makes an open one due, once more.
void fake_pcm_wake(struct fake_pcm *pcm);

/// Makes waiting for an open one end badly.
void fake_pcm_hang_up(struct fake_pcm *pcm);
