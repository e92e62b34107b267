// Sound cards without ALSA: as in FakePCM.h, for the control functions that AudioDevices calls. No
// PCM of such a card can be opened.
#pragma once

#include <stdbool.h>

enum { fake_devices = 4 };

/// A PCM device of a fake card, at its number in `devices`.
struct fake_device {
  /// The display name; empty if the card has no device of this number.
  char title[32];
  bool can_capture, can_play;
  /// The number of subdevices of each direction.
  int subdevices;
};

/// A card. The test changes the fields between calls.
struct fake_card {
  int number;
  char id[16], name[32];
  struct fake_device devices[fake_devices];
  /// The return value of opening its control device; 0 succeeds.
  int open_code;
  /// The number of times that its control device was opened and closed.
  int opened, closed;
};

/// Plugs in a card with this number, which no real card of the machine has.
struct fake_card *fake_card_plug(int number);

/// Unplugs and frees the card.
void fake_card_unplug(struct fake_card *card);
