#pragma once

#include <alsa/asoundlib.h>
#include <dlfcn.h>

#include "FakePCM.h"

enum { most_samples = 65536 };

/// The fake behind a handle; null where it is a PCM of alsa-lib's.
struct fake_pcm *fake(const void *handle);

/// alsa-lib's own function of this name.
#define ALSAS(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define PASS_ON(pcm, name, ...) \
  if (!fake(pcm)) return ALSAS(name)(__VA_ARGS__)
