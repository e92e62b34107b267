#pragma once

#include <alsa/asoundlib.h>
#include <dlfcn.h>

#include "FakePCM.h"

enum { most_samples = 65536 };

/// Returns the fake for a handle; null if the handle is a PCM of alsa-lib.
struct fake_pcm *fake(const void *handle);

/// Returns whether a name is that of a PCM of a fake card, which cannot be opened.
bool is_on_fake_card(const char *pcm);

/// The function of this name in alsa-lib.
#define ALSAS(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define PASS_ON(pcm, name, ...) \
  if (!fake(pcm)) return ALSAS(name)(__VA_ARGS__)
