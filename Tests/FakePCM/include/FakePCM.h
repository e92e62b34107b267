// ALSA PCMs without ALSA: in the unit test program these functions replace the snd_pcm functions
// that AudioDevices calls. A PCM whose name was returned by `fake_pcm_make` behaves as its fields
// specify; calls for all others are passed on to alsa-lib.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "FakeCard.h"
#include "FakeClock.h"
#include "FakeMixer.h"

/// One direction of a device. Its format is s16LE. The test changes the fields between calls.
struct fake_pcm {
  char name[32];

  // The granted values; 0 grants the requested value.
  long rate, channels, period, buffer;
  /// Whether it maps no memory, so that frames are copied; whether each channel has its own memory
  /// area.
  bool is_copied, is_planar;
  /// Whether its mapped channels are at uneven distances; whether the frames of one channel are at
  /// a different distance from those of the rest. Frames can be copied from such a device as well.
  bool is_uneven, has_uneven_steps;
  /// Whether it is hardware, whose descriptor needs no translation, and not a plugin.
  bool is_hardware;
  /// Whether it belongs to a sound server and has no card; the number of its card otherwise.
  bool is_server;
  int card;
  bool refuses_link;
  /// Whether it never becomes ready, so that a wait ends by its timeout.
  bool is_never_due;
  /// The return value of opening it; 0 succeeds.
  int open_code;

  /// The numbers of frames moved by the converter and by the program since it was prepared.
  long hardware, application;
  /// The number of frames by which the mapped page lags behind the kernel's position.
  long stale;
  /// The error code returned by position queries, if negative.
  long code;
  /// Whether only the kernel returns that error and the mapped page does not.
  bool is_code_hidden;
  bool is_running, is_suspended, is_linked;
  /// The number of frames by which the converters of this PCM and of its companion, the other
  /// direction of the same device, advance on each wait.
  long step;
  struct fake_pcm *companion;
  /// The poll events returned by a wait; 0 for POLLIN.
  int events;
  /// The number of frames by which its converter advances on each position query to the kernel.
  long move;

  /// The timestamp of its position in nanoseconds; negative if it returns none.
  long stamp;
  /// The timestamp of the stop in nanoseconds, negative if it returns none, and the number of
  /// frames unread at that time, or of free frames for playback.
  long stop_stamp, stop_unread;
  /// The delay in frames that its driver reports.
  long delay;
  /// The number of queries for which it reports this delay before it reports 0; 0 for no limit.
  int delay_queries;

  /// The number of transfer calls that it refuses, and their return value.
  int refusals;
  long refusal_code;
  /// The maximum number of frames transferred per call; 0 for no limit.
  long maximum;

  /// The number of resume calls that report that it is not resumed yet.
  int slow_resumes;

  // The number of calls of each kind.
  int opened, closed, started, dropped, prepared, resumed, drained, translated;

  /// Its buffer, with room for 65536 samples.
  int16_t *memory;
  /// The descriptor to wait on, and the other end of that pipe.
  int descriptor, waker;
};

/// Returns a PCM with a unique name, which exists until the program ends.
struct fake_pcm *fake_pcm_make(void);

/// Makes an open PCM ready once more.
void fake_pcm_wake(struct fake_pcm *pcm);

/// Makes a wait for an open PCM end with an error.
void fake_pcm_hang_up(struct fake_pcm *pcm);
